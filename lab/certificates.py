"""A certificate for a server on loopback that is its own authority, and who trusts it."""

import ssl
import subprocess
from pathlib import Path

from lab import paths
from lab.progress import Failed

PASSWORD = "changeit"


def run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"{Path(words[0]).name}: status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")


class Certificate:
    """Made anew in a directory, with its key and a trust store that holds it."""

    def __init__(self, directory: Path):
        directory.mkdir(parents=True, exist_ok=True)
        self.pem, self.key, self.store = (directory / name for name in ("drover.pem", "drover.key", "trust.p12"))
        self.store.unlink(missing_ok=True)
        new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=127.0.0.1")
        run(*new, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.key, "-out", self.pem)
        known = ("-importcert", "-noprompt", "-alias", "drover", "-file", self.pem)
        run(paths.java("keytool"), *known, "-keystore", self.store, "-storetype", "PKCS12", "-storepass", PASSWORD)

    def server(self) -> ssl.SSLContext:
        """For who has the key."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pem, self.key)
        return context

    def trusted(self) -> str:
        """Flags of a JVM that trusts it, and nothing else."""
        return f"-Djavax.net.ssl.trustStore={self.store} -Djavax.net.ssl.trustStorePassword={PASSWORD}"
