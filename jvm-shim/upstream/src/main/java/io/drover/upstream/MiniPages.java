package io.drover.upstream;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWebApp;
import org.apache.hadoop.yarn.server.webproxy.DefaultAppReportFetcher;
import org.apache.hadoop.yarn.server.webproxy.ProxyUriUtils;
import org.apache.hadoop.yarn.server.webproxy.WebAppProxy;
import org.apache.hadoop.yarn.server.webproxy.WebAppProxyServlet;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.apache.hadoop.yarn.webapp.WebApps;

/**
 * The real pages of a mini cluster's ResourceManager. All daemons of a mini cluster share one
 * static servlet filter, and the one started last owns it; so the ResourceManager's are started
 * once more.
 */
final class MiniPages {
  private static final String HOST = "localhost";

  private MiniPages() {}

  static URI start(ResourceManager rm) {
    Configuration conf = rm.getConfig();
    WebApp pages =
        WebApps.$for("cluster", ResourceManager.class, rm, "ws")
            .with(conf)
            .at(HOST, 0, true)
            .withServlet(
                ProxyUriUtils.PROXY_SERVLET_NAME,
                ProxyUriUtils.PROXY_PATH_SPEC,
                WebAppProxyServlet.class)
            .withAttribute(WebAppProxy.PROXY_CA, rm.getRMContext().getProxyCAManager().getProxyCA())
            .withAttribute(
                WebAppProxy.FETCHER_ATTRIBUTE,
                new DefaultAppReportFetcher(conf, rm.getClientRMService()))
            .withAttribute(WebAppProxy.PROXY_HOST_ATTRIBUTE, HOST)
            .start(new RMWebApp(rm));
    return URI.create("http://" + HOST + ":" + pages.port());
  }
}
