package cloverlab;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Names of a caller's own objects in 64 directories. */
public final class TreeNames {
    public static final int DIRECTORIES = 64, CALLERS = 128;
    private final List<List<String>> known = new ArrayList<>();
    private final long[] made = new long[CALLERS];
    private final String prefix;

    public TreeNames(String prefix) {
        this.prefix = prefix;
        for (int caller = 0; caller < CALLERS; caller++) {
            known.add(new ArrayList<>());
        }
    }

    public static String directory(int number) {
        return "/load/d" + number;
    }

    public String fresh(int caller) {
        int place = ThreadLocalRandom.current().nextInt(DIRECTORIES);
        return directory(place) + "/" + prefix + "." + caller + "-" + made[caller]++;
    }

    /** A new name in the directory of another. */
    public String beside(int caller, String name) {
        return name.substring(0, name.lastIndexOf('/')) + "/" + prefix + "." + caller + "-" + made[caller]++;
    }

    public void keep(int caller, String name) {
        known.get(caller).add(name);
    }

    /** One of the caller's names; null when there is none. */
    public String any(int caller) {
        List<String> names = known.get(caller);
        return names.isEmpty() ? null : names.get(ThreadLocalRandom.current().nextInt(names.size()));
    }

    /** Takes one of the caller's names away; null when there is none. */
    public String take(int caller) {
        List<String> names = known.get(caller);
        if (names.isEmpty()) {
            return null;
        }
        int place = ThreadLocalRandom.current().nextInt(names.size());
        String taken = names.get(place);
        names.set(place, names.get(names.size() - 1));
        names.remove(names.size() - 1);
        return taken;
    }
}
