package io.drover.upstream;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.v2.app.MRAppMaster;
import org.apache.hadoop.mapreduce.v2.util.MRApps;

/**
 * Holds the test of a lone master until the service owns the job's speculation, by the service's
 * own metrics. Otherwise it would be a matter of time who launches the copy: Hadoop's speculator
 * owns the job's first moments, and the test is over in seconds.
 */
final class Lease {
  private static final Duration LIMIT = Duration.ofSeconds(120);
  private static final long PAUSE_MS = 50;
  private static final String HELD = "drover_shim_leases 1";

  private final URI metrics;
  private final HttpClient client = HttpClient.newHttpClient();

  Lease(URI metrics) {
    this.metrics = metrics;
  }

  /** Puts the job's file where {@code MRApp} writes it only after its start, for tasks need it. */
  static void prepare(MRAppMaster master) throws IOException {
    var conf = master.getConfig();
    var job = TypeConverter.fromYarn(master.getContext().getApplicationID());
    File file = new File(MRApps.getJobFile(conf, conf.get(MRJobConfig.USER_NAME), job));
    file.getParentFile().mkdirs();
    try (OutputStream out = new FileOutputStream(file)) {
      conf.writeXml(out);
    }
  }

  void await() throws IOException, InterruptedException {
    Instant until = Instant.now().plus(LIMIT);
    HttpRequest request = HttpRequest.newBuilder(metrics).timeout(LIMIT).build();
    while (client
        .send(request, HttpResponse.BodyHandlers.ofString())
        .body()
        .lines()
        .noneMatch(HELD::equals)) {
      if (Instant.now().isAfter(until)) {
        throw new IOException("no lease within " + LIMIT.toSeconds() + " s");
      }
      Thread.sleep(PAUSE_MS);
    }
  }
}
