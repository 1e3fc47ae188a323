package cloverlab;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.BookKeeper.DigestType;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;

/** Entries of one ledger on three bookies, two of which acknowledge. Arguments: the address of the metadata service; `init` to make a cluster there. */
public final class BookKeeperClient extends Harness {
    private static final int BOOKIES = 3, ACKNOWLEDGE = 2, ENTRY_MOST = 4 << 20;
    private static final byte[] RECORD = new byte[1_000];
    private final String uri;
    private BookKeeper client;
    private LedgerHandle ledger;

    private BookKeeperClient(String uri) {
        this.uri = uri;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1 && arguments[1].equals("init")) {
            ServerConfiguration config = new ServerConfiguration();
            config.setMetadataServiceUri(arguments[0]);
            System.exit(BookKeeperAdmin.initNewCluster(config) ? 0 : 1);
        }
        new BookKeeperClient(arguments[0]).serve();
    }

    @Override
    protected void prepare() throws Exception {
        if (client == null) {
            ClientConfiguration config = new ClientConfiguration();
            config.setMetadataServiceUri(uri);
            config.setDelayEnsembleChange(true);
            client = new BookKeeper(config);
        }
        ledger = client.createLedger(BOOKIES, BOOKIES, ACKNOWLEDGE, DigestType.CRC32C, new byte[0]);
        ledger.addEntry(RECORD);
    }

    @Override
    protected Call call(String operation) {
        return caller -> {
            ledger.addEntry(RECORD);
            return true;
        };
    }

    /** The records of a group are one entry, as the namenode's journal on BookKeeper wrote them; a group too large for one is several. */
    @Override
    protected Journal journal(int bytes) {
        return new Journal() {
            private byte[] group = new byte[1 << 16];
            private int size;
            private CompletableFuture<Void> sent = CompletableFuture.completedFuture(null);

            @Override
            public void write() {
                if (size + bytes > ENTRY_MOST) {
                    send();
                }
                if (size + bytes > group.length) {
                    group = Arrays.copyOf(group, 2 * (size + bytes));
                }
                Arrays.fill(group, size, size + bytes, (byte) 'x');
                size += bytes;
            }

            private void send() {
                CompletableFuture<Void> added = new CompletableFuture<>();
                ledger.asyncAddEntry(group, 0, size, (code, handle, entry, context) -> {
                    if (code == BKException.Code.OK) {
                        added.complete(null);
                    } else {
                        added.completeExceptionally(BKException.create(code));
                    }
                }, null);
                sent = sent.thenCombine(added, (before, now) -> null);
                group = new byte[group.length];
                size = 0;
            }

            @Override
            public void flush() throws Exception {
                send();
                sent.get();
            }
        };
    }
}
