"""Telegram as the alert path sees it: a server on 127.0.0.1 that keeps what it was told, and can be away."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN, CHAT = "99:alerts", "4711"


class AlertPath:
    """told: the texts in order; asked: every request's path and chat; away: whether it answers 502 for now."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.asked: list[tuple[str, str]] = []
        self.away = False
        handler = type("Handler", (_Handler,), {"path_of": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def environment(self) -> dict[str, Any]:
        """For make_home(..., **path.environment())."""
        return {"alerts": {"token": TOKEN, "chat": CHAT, "api_url": self.url}}

    def variables(self) -> dict[str, str]:
        """The same for another process."""
        given = {"TOKEN": TOKEN, "CHAT": CHAT, "API_URL": self.url}
        return {f"NIGHTKEEPER_ALERTS__{name}": value for name, value in given.items()}

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    path_of: AlertPath

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self.path_of.asked.append((self.path, body["chat_id"]))
        if not self.path_of.away:
            self.path_of.told.append(body["text"])
        self.send_response(502 if self.path_of.away else 200)
        raw = b'{"ok": true}'
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Quiet."""
