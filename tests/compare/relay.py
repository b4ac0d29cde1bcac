"""A relay on the loopback address that counts the bytes between a client and a server."""

import json
import os
import socket
import subprocess
import tempfile
import threading
from urllib.parse import urlparse


class Relay:
    """Counts what goes through; `kubeconfig` is one that leads here and from here to the server."""

    def __init__(self, kubectl):
        view = [kubectl, "config", "view", "--raw", "--minify", "--flatten", "--output=json"]
        config = json.loads(subprocess.run(view, check=True, capture_output=True).stdout)
        cluster = config["clusters"][0]["cluster"]
        url = urlparse(cluster["server"])
        self.server = (url.hostname, url.port or (443 if url.scheme == "https" else 80))
        self.bytes = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        cluster["server"] = f"{url.scheme}://127.0.0.1:{self.listener.getsockname()[1]}{url.path}"
        if url.scheme == "https" and not cluster.get("insecure-skip-tls-verify"):
            cluster.setdefault("tls-server-name", url.hostname)
        handle, self.kubeconfig = tempfile.mkstemp(prefix="rollout2-relay-")
        with os.fdopen(handle, "w") as file:
            json.dump(config, file)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        os.unlink(self.kubeconfig)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.server)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one, other):
        try:
            while data := one.recv(1 << 16):
                self.bytes += len(data)
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other side has gone
