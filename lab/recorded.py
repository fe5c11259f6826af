"""A ResourceManager on loopback that answers what a real one was recorded to answer, while no job runs."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lab import paths

ANSWERS = paths.ROOT / "tests" / "recorded" / "3.4.3" / "rm"
FILES = {"info": "info", "metrics": "metrics", "nodes": "nodes", "scheduler": "scheduler", "apps": "apps_none"}


class IdleCluster:
    """Serves until it is left; `url` is its address."""

    def __enter__(self) -> "IdleCluster":
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                of_cluster, _, what = self.path.partition("?")[0].rpartition("/")
                known = of_cluster == "/ws/v1/cluster" and what in FILES
                body = (ANSWERS / f"{FILES[what]}.json").read_bytes() if known else b"{}"
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()
