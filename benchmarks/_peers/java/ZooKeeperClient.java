package cloverlab;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** Calls on nodes of ZooKeeper through one session. Arguments: the ensemble's addresses, the session's timeout in milliseconds. */
public final class ZooKeeperClient extends Harness {
    private static final byte[] EMPTY = new byte[0];
    private final ZooKeeper session;
    private final TreeNames names = new TreeNames("n" + ProcessHandle.current().pid());

    private ZooKeeperClient(ZooKeeper session) {
        this.session = session;
    }

    public static void main(String[] arguments) throws Exception {
        new ZooKeeperClient(new ZooKeeper(arguments[0], Integer.parseInt(arguments[1]), event -> { })).serve();
    }

    @Override
    protected void prepare() throws Exception {
        makeDirectory("/load");
        for (int number = 0; number < TreeNames.DIRECTORIES; number++) {
            makeDirectory(TreeNames.directory(number));
        }
    }

    private void makeDirectory(String path) throws Exception {
        try {
            make(path);
        } catch (KeeperException.NodeExistsException exists) {
            return;
        }
    }

    private void make(String path) throws Exception {
        session.create(path, EMPTY, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @Override
    protected Call call(String operation) {
        switch (operation) {
            case "create":
                return caller -> {
                    String name = names.fresh(caller);
                    make(name);
                    names.keep(caller, name);
                    return true;
                };
            case "stat":
                return caller -> {
                    String name = names.any(caller);
                    return name != null && session.exists(name, false) != null;
                };
            case "delete":
                return caller -> {
                    String name = names.take(caller);
                    if (name == null) {
                        return false;
                    }
                    session.delete(name, -1);
                    return true;
                };
            default:
                throw new IllegalArgumentException(operation);
        }
    }
}
