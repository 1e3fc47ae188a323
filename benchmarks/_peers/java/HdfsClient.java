package cloverlab;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Metadata calls of HDFS through one file system object. Arguments: KEY=VALUE of its configuration. */
public final class HdfsClient extends Harness {
    private final FileSystem files;
    private final TreeNames names = new TreeNames("f" + ProcessHandle.current().pid());

    private HdfsClient(Configuration config) throws Exception {
        files = FileSystem.get(config);
    }

    public static void main(String[] arguments) throws Exception {
        Configuration config = new Configuration();
        for (String each : arguments) {
            config.set(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
        }
        new HdfsClient(config).serve();
    }

    @Override
    protected void prepare() throws Exception {
        for (int number = 0; number < TreeNames.DIRECTORIES; number++) {
            files.mkdirs(new Path(TreeNames.directory(number)));
        }
    }

    @Override
    protected Call call(String operation) {
        switch (operation) {
            case "mkdir":
                return caller -> done(files.mkdirs(new Path(names.fresh(caller))));
            case "create":
                return caller -> {
                    String name = names.fresh(caller);
                    files.create(new Path(name), false).close();
                    names.keep(caller, name);
                    return true;
                };
            case "stat":
                return caller -> {
                    String name = names.any(caller);
                    return name != null && files.getFileStatus(new Path(name)) != null;
                };
            case "rename":
                return caller -> {
                    String name = names.take(caller);
                    if (name == null) {
                        return false;
                    }
                    String next = names.beside(caller, name);
                    names.keep(caller, next);
                    return done(files.rename(new Path(name), new Path(next)));
                };
            case "delete":
                return caller -> {
                    String name = names.take(caller);
                    return name != null && done(files.delete(new Path(name), false));
                };
            default:
                throw new IllegalArgumentException(operation);
        }
    }

    private static boolean done(boolean success) {
        if (!success) {
            throw new IllegalStateException("refused");
        }
        return true;
    }
}
