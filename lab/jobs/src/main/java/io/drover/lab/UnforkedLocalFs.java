package io.drover.lab;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.local.LocalConfigKeys;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system of a NodeManager that has many containers to start. Without Hadoop's native
 * library, which is in no jar, Hadoop starts a {@code chmod} for each file and directory that it
 * makes, a dozen for a container; here the JVM sets their permissions itself, as the library would.
 */
public final class UnforkedLocalFs extends DelegateToFileSystem {

  /** For Hadoop, which is told of the class in {@code fs.AbstractFileSystem.file.impl}. */
  public UnforkedLocalFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(FsConstants.LOCAL_FS_URI, new Raw(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
  }

  @Override
  public int getUriDefaultPort() {
    return -1;
  }

  @Override
  public boolean isValidName(String source) {
    return true;
  }

  @Override
  @Deprecated
  public FsServerDefaults getServerDefaults() throws IOException {
    return LocalConfigKeys.getServerDefaults();
  }

  private static final class Raw extends RawLocalFileSystem {
    private static final int OF_FILES = 0777;

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      if (permission.toShort() > OF_FILES) {
        super.setPermission(path, permission);
        return;
      }
      String letters =
          permission.getUserAction().SYMBOL
              + permission.getGroupAction().SYMBOL
              + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(
          pathToFile(path).toPath(), PosixFilePermissions.fromString(letters));
    }
  }
}
