package org.apache.hadoop.hdfs.server.namenode;

import cloverlab.Harness;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.permission.PermissionStatus;
import org.apache.hadoop.hdfs.qjournal.client.QuorumJournalManager;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;

/** Records of an edit log straight to the journal nodes, through HDFS's own writer. In the package of its records, which is closed. */
public final class QjmClient extends Harness {
    private static final PermissionStatus OWNER = new PermissionStatus("owner", "group", FsPermission.getDirDefault());
    private static final int FIELDS = 80;
    /** Bytes of a record beside its path, about. */
    private final FSEditLogOp.OpInstanceCache cache = new FSEditLogOp.OpInstanceCache();
    private final URI uri;
    private QuorumJournalManager manager;
    private EditLogOutputStream out;
    private long next = 1;

    private QjmClient(URI uri) {
        this.uri = uri;
    }

    /** Argument: the address of an edit log, qjournal://… */
    public static void main(String[] arguments) throws Exception {
        new QjmClient(URI.create(arguments[0])).serve();
    }

    @Override
    protected void prepare() throws Exception {
        NamespaceInfo namespace = new NamespaceInfo(4711, "CID-measured", "BP-measured", 0L);
        manager = new QuorumJournalManager(new Configuration(), uri, namespace, null);
        manager.format(namespace, true);
        manager.recoverUnfinalizedSegments();
        out = manager.startLogSegment(next, NameNodeLayoutVersion.CURRENT_LAYOUT_VERSION);
    }

    @Override
    protected Call call(String operation) {
        throw new IllegalArgumentException(operation);
    }

    @Override
    protected Journal journal(int bytes) {
        String path = "/" + "x".repeat(Math.max(1, bytes - FIELDS));
        return new Journal() {
            @Override
            public void write() throws Exception {
                FSEditLogOp record = FSEditLogOp.MkdirOp.getInstance(cache)
                    .setInodeId(next).setPath(path).setTimestamp(next).setPermissionStatus(OWNER);
                record.setTransactionId(next++);
                out.write(record);
            }

            @Override
            public void flush() throws Exception {
                out.setReadyToFlush();
                out.flush();
            }
        };
    }
}
