package cloverlab;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Commands are lines on standard input, each answered by one line of JSON: the load of one client, from many callers. */
public abstract class Harness {
    /** One call of a caller. Returns false when it has nothing left to work on; fails with an exception. */
    public interface Call {
        boolean run(int caller) throws Exception;
    }

    /** Where journal records go: `write` adds one to the open group, `flush` returns when the group is safe. */
    public interface Journal {
        void write() throws Exception;

        void flush() throws Exception;
    }

    private static final long TICK_NS = 1_000_000;
    private static final long RETRY_NS = 20_000_000;
    /** Logs of libraries may go to standard output; answers alone go to this one. */
    private static final PrintStream OUT = System.out;

    static {
        System.setOut(System.err);
    }

    private Watch watch;

    /** Prepares the tree; throws while the service does not answer yet. */
    protected abstract void prepare() throws Exception;

    protected abstract Call call(String operation) throws Exception;

    protected Journal journal(int bytes) throws Exception {
        throw new UnsupportedOperationException("no journal");
    }

    public void serve() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                answer = answer(line.trim().split(" "));
            } catch (Throwable error) {
                answer = "{\"refused\": \"" + String.valueOf(error).replaceAll("[^ -~]|[\"\\\\]", " ") + "\"}";
            }
            OUT.println(answer);
            OUT.flush();
        }
        System.exit(0);
    }

    private String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "prepare":
                for (;;) {
                    try {
                        prepare();
                        return "{}";
                    } catch (Exception notYet) {
                        LockSupport.parkNanos(RETRY_NS);
                    }
                }
            case "rate":
                return rate(call(words[1]), Integer.parseInt(words[2]), seconds(words[3]), seconds(words[4]));
            case "journal":
                return journal(journal(Integer.parseInt(words[1])), Integer.parseInt(words[2]), seconds(words[3]));
            case "watch":
                watch = new Watch(call(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                return "{}";
            case "begin":
                watch.begin();
                return "{}";
            case "seen":
                return watch.seen();
            case "end":
                watch.ended = true;
                return "{}";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static long seconds(String word) {
        return (long) (Double.parseDouble(word) * 1e9);
    }

    /** Calls per second from the end of the warm-up until the last call within the window; it ends when one caller has nothing left. */
    private static String rate(Call call, int callers, long warmNs, long windowNs) throws Exception {
        long fromNs = System.nanoTime() + warmNs, toNs = fromNs + windowNs;
        AtomicLong done = new AtomicLong(), tookNs = new AtomicLong(), lastNs = new AtomicLong(fromNs);
        AtomicInteger failed = new AtomicInteger();
        boolean[] over = new boolean[1];
        List<Thread> threads = new ArrayList<>();
        for (int each = 0; each < callers; each++) {
            int caller = each;
            Thread thread = new Thread(() -> {
                while (!over[0]) {
                    long began = System.nanoTime();
                    if (began >= toNs) {
                        return;
                    }
                    try {
                        if (!call.run(caller)) {
                            over[0] = true;
                            return;
                        }
                    } catch (Exception error) {
                        failed.incrementAndGet();
                        continue;
                    }
                    long now = System.nanoTime();
                    if (now >= fromNs && now < toNs) {
                        done.incrementAndGet();
                        tookNs.addAndGet(now - began);
                        lastNs.accumulateAndGet(now, Math::max);
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double elapsed = Math.max(1, lastNs.get() - fromNs) / 1e9, mean = tookNs.get() / 1e6 / Math.max(1, done.get());
        return String.format(Locale.ROOT, "{\"per_s\": %.1f, \"mean_ms\": %.4f, \"calls\": %d, \"failed\": %d}",
            done.get() / elapsed, mean, done.get(), failed.get());
    }

    /** Records at a rate, each counted from the tick of 1 ms in which it was due. One group is flushed at a time; the next has all that waited. */
    private static String journal(Journal journal, int rate, long durationNs) throws Exception {
        int count = (int) (rate * durationNs / 1_000_000_000L);
        long beganNs = System.nanoTime(), limitNs = beganNs + 10 * durationNs;
        long[] sinceNs = new long[count];
        AtomicInteger given = new AtomicInteger();
        Thread generator = new Thread(() -> {
            for (int next = 0; next < count; LockSupport.parkNanos(TICK_NS)) {
                long now = System.nanoTime();
                for (long due = Math.min(count, (now - beganNs) * rate / 1_000_000_000L + 1); next < due; next++) {
                    sinceNs[next] = now;
                }
                given.set(next);
            }
        });
        generator.start();
        int done = 0, flushes = 0;
        double recordsNs = 0, flushesNs = 0;
        while (done < count && System.nanoTime() < limitNs) {
            int until = given.get();
            if (until == done) {
                LockSupport.parkNanos(50_000);
                continue;
            }
            for (int record = done; record < until; record++) {
                journal.write();
            }
            long closedNs = System.nanoTime();
            journal.flush();
            long now = System.nanoTime();
            flushes++;
            flushesNs += now - closedNs;
            for (; done < until; done++) {
                recordsNs += now - sinceNs[done];
            }
        }
        double elapsed = (System.nanoTime() - beganNs) / 1e9;
        generator.join();
        return String.format(Locale.ROOT, "{\"mean_ms\": %.4f, \"flush_ms\": %.4f, \"per_s\": %.1f}",
            recordsNs / 1e6 / Math.max(1, done), flushesNs / 1e6 / Math.max(1, flushes), done / elapsed);
    }

    /** Paced calls in the background, and the longest time without an answer. */
    private static final class Watch {
        private final long[] answeredNs;
        volatile boolean ended;
        private long longestNs, lastNs = System.nanoTime();
        private long failed;

        /** `callers` share `perS` calls a second. */
        Watch(Call call, int callers, int perS) {
            answeredNs = new long[callers];
            long paceNs = 1_000_000_000L * callers / perS;
            for (int each = 0; each < callers; each++) {
                int caller = each;
                Thread thread = new Thread(() -> {
                    while (!ended) {
                        long began = System.nanoTime();
                        try {
                            call.run(caller);
                            answered(caller, began);
                        } catch (Exception error) {
                            fail();
                        }
                        LockSupport.parkNanos(began + paceNs - System.nanoTime());
                    }
                });
                thread.setDaemon(true);
                thread.start();
            }
        }

        private synchronized void answered(int caller, long began) {
            long now = System.nanoTime();
            longestNs = Math.max(longestNs, now - lastNs);
            lastNs = now;
            answeredNs[caller] = began;
        }

        private synchronized void fail() {
            failed++;
        }

        synchronized void begin() {
            longestNs = 0;
            lastNs = System.nanoTime();
            failed = 0;
        }

        /** `begun_ms`: how long ago the oldest of the callers' last answered calls began. */
        synchronized String seen() {
            long oldest = Long.MAX_VALUE;
            for (long each : answeredNs) {
                oldest = Math.min(oldest, each);
            }
            return String.format(Locale.ROOT, "{\"longest_ms\": %.3f, \"begun_ms\": %.3f, \"failed\": %d}",
                longestNs / 1e6, (System.nanoTime() - oldest) / 1e6, failed);
        }
    }
}
