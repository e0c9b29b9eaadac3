"""A small Bot API of our own on 127.0.0.1: long polling, what the bot shows, and everything that can go wrong.

api = BotApi(); api.say("你好"); ...; api.texts() == ["…"]
api.fail("editMessageText", 429, retry_after=2)  # once; times=3 for three times
api.fail("getUpdates", 409); api.hang("sendMessage", 1.0); api.cut("sendMessage")  # answered, but the line breaks
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

OWNER, STRANGER = 4711, 666
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
TOKEN = "4711:test-token"


class BotApi:
    """The running server. calls: (method, parameters) in order; shown: what each of the bot's messages says now."""

    def __init__(self, port: int = 0) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.shown: dict[int, str] = {}
        self.edits: dict[int, list[tuple[float, str]]] = defaultdict(list)
        self.times: list[tuple[float, str]] = []
        self._updates: list[dict[str, Any]] = []
        self._troubles: dict[str, deque[Callable[[], tuple[int, dict[str, Any]] | None]]] = defaultdict(deque)
        self._numbers = {"update": 100, "user": 10, "bot": 5_000}
        self._changed, self._stopped = threading.Condition(), threading.Event()
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    # what people do

    def say(
        self, text: str | None = None, *, sender: int = OWNER, code: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """A message of somebody's in their chat with the bot; more: any field of a Message."""
        user: dict[str, Any] = {"id": sender, "is_bot": False, "first_name": "某人"}
        if code:
            user["language_code"] = code
        message = {
            "message_id": self._next("user"),
            "from": user,
            "chat": {"id": sender, "type": "private"},
            "date": int(time.time()),
        } | more
        if text is not None:
            message["text"] = text
        self.push({"message": message})
        return message

    def edit(self, message: dict[str, Any], text: str, after: int = 1) -> None:
        self.push({"edited_message": message | {"text": text, "edit_date": message["date"] + after}})

    def push(self, update: dict[str, Any], again: bool = False) -> None:
        """Have an update waiting; again: with the id of the one before."""
        with self._changed:
            number = self._numbers["update"] if again else self._next("update")
            self._updates.append({"update_id": number} | update)
            self._changed.notify_all()

    def repeat(self) -> None:
        """Deliver everything there was once more, under new update ids."""
        with self._changed:
            for update in list(self._updates):
                self._updates.append(update | {"update_id": self._next("update")})
            self._changed.notify_all()

    def shown_as(self, text: str) -> dict[str, Any]:
        """The bot's message that says this, as a reply's target."""
        number = next(number for number, said in self.shown.items() if said == text)
        bot = {"id": 1, "is_bot": True, "first_name": "bot"}
        return {
            "message_id": number, "from": bot, "chat": {"id": OWNER, "type": "private"}, "date": int(time.time()),
            "text": text,
        }  # fmt: skip

    # what goes wrong

    def fail(
        self, method: str, code: int, *, retry_after: int | None = None, text: str = "failed", times: int = 1
    ) -> None:
        answer: dict[str, Any] = {"ok": False, "error_code": code, "description": text}
        if retry_after is not None:
            answer["parameters"] = {"retry_after": retry_after}
        self._troubles[method] += [lambda: (code, answer)] * times

    def hang(self, method: str, seconds: float, times: int = 1) -> None:
        self._troubles[method] += [lambda: self._stopped.wait(seconds) and None] * times

    def cut(self, method: str, times: int = 1) -> None:
        self._troubles[method] += [lambda: (0, {})] * times

    # what came of it

    def texts(self) -> list[str]:
        return list(self.shown.values())

    def count(self, method: str) -> int:
        return sum(name == method for name, _ in self.calls)

    def wait(self, ready: Callable[[], bool], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < deadline, f"it did not come to that; shown: {self.texts()}"
            time.sleep(0.02)

    def answer(self, method: str, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._changed:
            self.calls.append((method, given))
            self.times.append((time.monotonic(), method))
        if self._troubles[method] and (trouble := self._troubles[method].popleft()()):
            return trouble
        result = getattr(self, f"_{method.lower()}", lambda _given: True)(given)
        return (
            (400, result)
            if isinstance(result, dict) and result.get("ok") is False
            else (200, {"ok": True, "result": result})
        )

    def _getme(self, _given: dict[str, Any]) -> dict[str, Any]:
        return {"id": 1, "is_bot": True, "first_name": "bot", "username": "a_bot"}

    def _getupdates(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        first, seconds = int(given.get("offset") or 0), float(given.get("timeout") or 0)
        with self._changed:
            self._updates = [update for update in self._updates if update["update_id"] >= first]
            self._changed.wait_for(lambda: self._updates or self._stopped.is_set(), min(seconds, 2.0))
            return [update for update in self._updates if update["update_id"] >= first]

    def _sendmessage(self, given: dict[str, Any]) -> dict[str, Any]:
        if bad := self._bad(given):
            return bad
        number = self._next("bot")
        self.shown[number] = given["text"]
        return self._message(given, number)

    def _editmessagetext(self, given: dict[str, Any]) -> dict[str, Any]:
        number = int(given["message_id"])
        if bad := self._bad(given):
            return bad
        if number not in self.shown:
            return {"ok": False, "error_code": 400, "description": "Bad Request: message to edit not found"}
        if self.shown[number] == given["text"]:
            return {"ok": False, "error_code": 400, "description": "Bad Request: message is not modified: same"}
        self.shown[number] = given["text"]
        self.edits[number].append((time.monotonic(), given["text"]))
        return self._message(given, number)

    def _deletemessage(self, given: dict[str, Any]) -> bool:
        return self.shown.pop(int(given["message_id"]), None) is not None

    def _getfile(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"file_id": given["file_id"], "file_unique_id": "u", "file_path": "photos/1.png"}

    def _message(self, given: dict[str, Any], number: int) -> dict[str, Any]:
        chat = {"id": int(given["chat_id"]), "type": "private"}
        return {"message_id": number, "date": int(time.time()), "chat": chat, "text": given["text"]}

    def _bad(self, given: dict[str, Any]) -> dict[str, Any] | None:
        """What Telegram refuses: a text that is blank or too long, an entity outside of it."""
        size = len(given["text"].encode("utf-16-le")) // 2
        marks = json.loads(given.get("entities") or "[]")
        why = "message text is empty" if not given["text"].strip() else "message is too long" if size > 4096 else ""
        if any(one["offset"] + one["length"] > size for one in marks):
            why = "can't parse entities"
        return {"ok": False, "error_code": 400, "description": f"Bad Request: {why}"} if why else None

    def _next(self, name: str) -> int:
        self._numbers[name] += 1
        return self._numbers[name]


class _Handler(BaseHTTPRequestHandler):
    api: BotApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(200, PICTURE, "image/png")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        method = re.sub(r".*/bot[^/]+/", "", self.path)
        form = json.loads(body) if "json" in (self.headers["content-type"] or "") else dict(parse_qsl(body.decode()))
        status, answer = self.api.answer(method, form)
        if status == 0:  # the line breaks; what was asked for happened or not
            self.close_connection = True
            return
        self._send(status, json.dumps(answer).encode(), "application/json")

    def _send(self, status: int, raw: bytes, kind: str) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Quiet."""
