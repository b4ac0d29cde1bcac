"""A relay on the loopback address that counts the bytes between a client and a server, and may be slow."""

import json
import os
import queue
import socket
import subprocess
import tempfile
import threading
import time
from urllib.parse import urlparse


class Relay:
    """Counts what goes through; `kubeconfig` is one that leads here and from here to the server.

    `round_trip` is how many seconds a byte and its answer take longer. A connection takes one more to come about.
    """

    def __init__(self, kubectl, round_trip=0):
        self.round_trip = round_trip
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
            begun = time.monotonic() + self.round_trip
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for one, other in ((client, server), (server, client)):
                under_way = queue.SimpleQueue()
                threading.Thread(target=self._take, args=(one, under_way, begun), daemon=True).start()
                threading.Thread(target=self._deliver, args=(under_way, other), daemon=True).start()

    def _take(self, one, under_way, begun):
        data = True
        while data:
            try:
                data = one.recv(1 << 16)
            except OSError:
                data = b""  # the other side has gone
            self.bytes += len(data)
            under_way.put((max(time.monotonic(), begun) + self.round_trip / 2, data))

    @staticmethod
    def _deliver(under_way, other):
        try:
            while True:
                due, data = under_way.get()
                time.sleep(max(0, due - time.monotonic()))
                if not data:
                    other.shutdown(socket.SHUT_WR)
                    return
                other.sendall(data)
        except OSError:
            pass  # the other side has gone
