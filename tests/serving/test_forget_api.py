"""`/v1/forget` over a real socket: shown first, done with the token of exactly that, and undone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from served import serving

from storage.archive import NewMessage, archive
from storage.home import Home

NOW = "2026-03-09T20:00:00+08:00"


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    return made


def told(home: Home, text: str, user: str = "lin") -> str:
    at = datetime.fromisoformat("2026-03-08T12:00:00+08:00")
    message = NewMessage(user, "chat", "user", text, at, source="test", source_id=text)
    archive(home, [message])
    return message.id


def texts(home: Home) -> set[str]:
    return {text for (text,) in home.lake.cursor().execute("SELECT text FROM messages").fetchall()}


def test_nothing_goes_without_the_token_of_what_was_shown(home: Home) -> None:
    told(home, "我家豆豆打疫苗了")
    told(home, "今天升职了")
    with serving(home.environment) as client:
        shown = client.post("/v1/forget", json={"text": "豆豆"}).json()
        assert (shown["status"], shown["counts"]) == ("found", {"message": 1})
        assert shown["items"][0]["excerpt"] == "我家豆豆打疫苗了" and shown["items"][0]["fate"] == "gone"
        assert len(texts(home)) == 2
        told(home, "豆豆又闯祸了")
        late = client.post("/v1/forget", json={"text": "豆豆", "confirm": shown["token"]})
        assert (late.status_code, late.json()["error"]["code"]) == (409, "changed") and len(texts(home)) == 3
        token = client.post("/v1/forget", json={"text": "豆豆"}).json()["token"]
        done = client.post("/v1/forget", json={"text": "豆豆", "confirm": token}).json()
        assert done["status"] == "forgotten" and texts(home) == {"今天升职了"}
        found = client.get("/v1/messages", params={"q": "豆豆"}).json()["messages"]
        assert [one for one in found if "豆豆" in one["text"]] == []
        back = client.post("/v1/forget", json={"undo": done["request"]}).json()
        assert back == {**back, "status": "undone", "counts": {"message": 2}} and len(texts(home)) == 3


def test_a_token_for_the_graveyard_is_none_for_good(home: Home) -> None:
    key = told(home, "我家豆豆打疫苗了")
    with serving(home.environment) as client:
        token = client.post("/v1/forget", json={"message": key}).json()["token"]
        wrong = client.post("/v1/forget", json={"message": key, "for_good": True, "confirm": token})
        assert wrong.status_code == 409 and len(texts(home)) == 1


def test_what_is_asked_for_is_one_thing_and_ones_own(home: Home) -> None:
    key = told(home, "豆豆")
    told(home, "豆豆", "wang")
    with serving(home.environment) as client:
        assert client.post("/v1/forget", json={"text": "豆豆", "message": key, "user": "lin"}).status_code == 422
        assert client.post("/v1/forget", json={"user": "lin"}).status_code == 422
        assert client.post("/v1/forget", json={"message": key, "user": "wang"}).status_code == 400
        assert client.post("/v1/forget", json={"text": "豆豆", "user": "wang"}).json()["counts"] == {"message": 1}
