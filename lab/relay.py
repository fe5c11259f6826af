"""A relay between shims and the service, which does to their exchanges what a bad network or a crash would."""

import http.client
import json
import threading
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FORWARD_LIMIT_S = 10
KEPT = ("Content-Type", "Accept", "User-Agent", "X-Drover-Mac")


@dataclass
class Answer:
    """What the service answered; `said` is its body as far as that is JSON."""

    status: int
    mac: str
    body: bytes

    @property
    def said(self) -> dict:
        return read(self.body)


def read(body: bytes) -> dict:
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


class Relay:
    """Passes every exchange through `trouble`: (request, forward) to an answer, or None for a connection that breaks.

    `forward` sends the request on and gives the service's answer, or None where there is no service. `seen` counts
    exchanges, the outcomes that shims acknowledge, in every request that repeats them, and answers that nobody waited
    for any more.
    With `tls`, an ssl.SSLContext, it speaks that to shims.
    """

    def __init__(self, to: str, trouble=None, tls=None):
        self.to, self.trouble = to, trouble
        self.seen, self.lock = Counter(), threading.Lock()
        relay = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                relay.handle(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_port}"
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def count(self, *what: str) -> None:
        with self.lock:
            self.seen.update(what)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        request = read(body)
        self.count("exchanges", *(ack["outcome"] for ack in request.get("acks", [])))
        headers = {name: handler.headers[name] for name in KEPT if handler.headers[name]}

        def forward():
            return self.forward(handler.path, headers, body)

        answer = self.trouble(request, forward) if self.trouble else forward()
        if answer is None:
            handler.close_connection = True
            return
        try:
            handler.send_response(answer.status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(answer.body)))
            if answer.mac:
                handler.send_header("X-Drover-Mac", answer.mac)
            handler.end_headers()
            handler.wfile.write(answer.body)
        except OSError:
            self.count("gave up waiting")

    def forward(self, path: str, headers: dict, body: bytes):
        connection = http.client.HTTPConnection(self.to, timeout=FORWARD_LIMIT_S)
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers.get("X-Drover-Mac"), answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
