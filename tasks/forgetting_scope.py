"""How far a wish to forget reaches: the messages, and through every layer what was made from them.

A message takes its other versions along, and our reply where that says it again. What was made of it goes a sentence at
a time: fragments, then diaries, then cards, states and timeline, then events, then facts, decisions and preferences.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from storage.errors import NightkeeperError
from storage.events import KINDS, Event, open_events
from storage.graves import Change
from storage.home import Home
from storage.ids import content_id, is_id
from storage.lake import Row
from tasks import forgetting_rows as rows_of
from tasks.forgetting_rows import Findings
from tasks.subjects import Judge, Told

TYPED = ("facts", "decisions", "preferences")
DATED = (("card_changes", "item_id", "card", "retire"), ("state_changes", "state_id", "state", "cancelled"))
KINDS_OF_TABLES = {
    "fragments": "fragment", "diaries": "diary", "timeline": "timeline", "facts": "fact", "decisions": "decision",
    "preferences": "preference", "pending": "pending",
}  # fmt: skip
OWNER_POSITION = 900  # of the owner's changes within a day: behind the night's


@dataclass
class Held:
    """A user's rows, each table read once."""

    home: Home
    user: str
    read: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, table: str) -> list[Row]:
        if table not in self.read:
            self.read[table] = self.home.lake.rows("rows_of_user", table=table, user=self.user)
        return self.read[table]

    def messages(self) -> list[Row]:
        if "texts" not in self.read:
            self.read["texts"] = self.home.lake.rows("messages_texts", user=self.user)
        return self.read["texts"]

    def events(self) -> list[Event]:
        return open_events(self.home).of_user(self.user, KINDS)


def everything(held: Held, judge: Judge, gone: set[str], fragment: str = "") -> Findings:
    """All that tells of it: messages `gone`, and every memory. fragment: itself what is forgotten"""
    found, by_name = Findings(), judge.everywhere
    texts = {row["id"]: heard(row) for row in held.messages()}
    _add_messages(held, found, gone)
    held_by = [row for row in held.rows("fragments") if by_name or gone & set(row["message_ids"] or [])]
    touched = rows_of.fragments(found, judge, held_by, gone, texts) | ({fragment} if fragment else set())
    if not by_name:
        own = [row["text"] or "" for row in held.rows("fragments") if row["id"] == fragment]
        judge = Told([*(texts[key] for key in gone if key in texts), *found.sentences, *own])
    fragments = _standing(held, found, fragment)
    kept = _diaries(held, found, judge, touched, fragments, by_name=by_name)
    days = {row["day"] for row in held.rows("diaries")} if by_name else set(kept)
    for table, item, kind, _ in DATED:
        of_days = [row for row in held.rows(table) if by_name or row["day"] in days]
        rows_of.lines(found, judge, of_days, kept, (table, item, kind))
    rows_of.moments(found, judge, [row for row in held.rows("timeline") if by_name or row["day"] in days], kept)
    for table in TYPED:
        resting = [row for row in held.rows(table) if by_name or gone & set(row["evidence"] or [])]
        rows_of.typed(found, judge, resting, table, gone)
    _events(held, found, judge, touched, fragments, by_name=by_name)
    _loose(held, found, judge, gone | touched, by_name=by_name)
    return found


def _add_messages(held: Held, found: Findings, gone: set[str]) -> None:
    if gone:
        span = {"first": min(gone), "last": max(gone), "ids": sorted(gone)}
        rows_of.whole(found, "messages", "message", held.home.lake.rows("messages_whole", user=held.user, **span))


def _standing(held: Held, found: Findings, fragment: str) -> dict[str, str]:
    """The texts of the fragments as they will be, by id; nothing of one that is left empty."""
    texts = {row["id"]: row["text"] for row in held.rows("fragments") if row["text"]}
    for change in found.changes:
        if change.table == "fragments" and change.old:
            texts[change.old["id"]] = (change.new or {}).get("text") or ""
    texts.pop(fragment, None)
    return {key: text for key, text in texts.items() if text}


def _diaries(
    held: Held, found: Findings, judge: Judge, touched: set[str], fragments: Mapping[str, str], *, by_name: bool
) -> dict[date, list[str]]:
    """Rewrites diaries; what stays of each that may tell of it, by day, for what rests on it."""
    kept = dict[date, list[str]]()
    for row in held.rows("diaries"):
        if by_name or touched & set(row["fragment_ids"] or []):
            sources = [fragments[key] for key in row["fragment_ids"] or [] if key in fragments]
            rows_of.diary(found, judge, row, sources)
            kept[row["day"]] = sources
    return kept


def _events(
    held: Held, found: Findings, judge: Judge, touched: set[str], fragments: Mapping[str, str], *, by_name: bool
) -> None:
    for one in held.events():
        if by_name or touched & set(one.evidence):
            kept = [fragments[key] for key in one.evidence if key in fragments]
            rested = touched & set(one.evidence)
            rows_of.event(found, judge, one, kept, alive=bool(kept) or not rested)


def _loose(held: Held, found: Findings, judge: Judge, ids: set[str], *, by_name: bool) -> None:
    """What holds texts of its own: questions that are pending, and what was refused and kept word for word."""
    for table, kind, column in (("pending", "pending", "proposal"), ("quarantine", "quarantine", "raw")):

        def tells(row: Row, column: str = column) -> bool:
            text = plain(row[column] or "")
            return (by_name and judge.says(text)) or row.get("subject_id") in ids or any(key in text for key in ids)

        rows_of.whole(found, table, kind, [row for row in held.rows(table) if tells(row)])


def of_memory(held: Held, key: str, *, for_good: bool) -> tuple[Findings, set[str]]:
    """One memory by its id, and for a fragment what was made from it too."""
    if not is_id(key):
        raise NightkeeperError("that is no id of a memory")
    fragment = next((row for row in held.rows("fragments") if row["id"] == key), None)
    if fragment:
        found = everything(held, Told([fragment["text"] or ""]), set(), fragment=key)
        found.sentences += [fragment["text"] or ""]
        found.rewrite("fragments", "fragment", key, fragment, fragment | {"status": rows_of.EMPTY, "text": ""})
        return found, set()
    found = Findings()
    for table, kind in KINDS_OF_TABLES.items():
        rows_of.whole(found, table, kind, [row for row in held.rows(table) if row["id"] == key])
    for dated in DATED:
        _item(held, found, dated, key, for_good=for_good)
    found.events += [(one, None) for one in held.events() if one.id == key]
    if not found.changes and not found.events:
        if any(row["id"] == key for row in held.messages()):
            raise NightkeeperError("that is the id of a message, not of a memory")
        raise NightkeeperError("there is no memory with that id")
    return found, set()


def _item(held: Held, found: Findings, dated: tuple[str, str, str, str], key: str, *, for_good: bool) -> None:
    """A line of a card, or a state: all its changes for good, else one more by the owner that ends it."""
    table, item, kind, ending = dated
    named = {row[item] for row in held.rows(table) if key in (row[item], row["id"])}
    own = sorted((row for row in held.rows(table) if row[item] in named), key=lambda row: (row["day"], row["position"]))
    if for_good:
        for row in own:
            found.rewrite(table, kind, row[item], row, None)
    elif own:
        found.changes.append(Change(table, kind, own[-1][item], None, _ended(held.home, own, ending)))


def _ended(home: Home, own: Sequence[Row], op: str) -> Row:
    """The owner's change that takes a line off its card, or calls a state off."""
    now, last = home.clock.now(), own[-1]
    today = max(home.business_day(now), last["day"])
    behind = max([OWNER_POSITION, *(row["position"] for row in own if row["day"] == today)])
    new = {
        "id": content_id(now, "forget", last["id"]), "day": today, "position": behind + 1, "op": op, "evidence": "",
        "text": next((row["text"] for row in reversed(own) if row["text"]), ""),
        "changed_by": "owner", "made_by": "owner", "made_at": now, "step": "owner",
    }  # fmt: skip
    return last | {name: value for name, value in new.items() if name in last}


def message_and_replies(held: Held, key: str) -> set[str]:
    """A message in all its versions, and our replies that say it again."""
    by_id = {row["id"]: row for row in held.messages()}
    if key not in by_id:
        raise NightkeeperError("there is no message with that id")
    own = versions(held, {key})
    judge = Told(by_id[one]["text"] or "" for one in own)
    return own | versions(held, {row["id"] for row in _replies(held, own) if judge.says(row["text"] or "")})


def _replies(held: Held, own: set[str]) -> list[Row]:
    """What we said right after these messages, in their chat; an import seldom says what replies to what."""
    found, after = list[Row](), dict[str, bool]()
    for row in sorted(held.messages(), key=lambda row: (row["sent_at"], row["id"])):
        if row["role"] == "user":
            after[row["chat_id"]] = row["id"] in own
        elif row["role"] == "assistant" and (after.get(row["chat_id"]) or row["reply_to"] in own):
            found.append(row)
    return found


def versions(held: Held, ids: set[str]) -> set[str]:
    """With these messages, every edit of them and everything they are edits of."""
    edits = [(row["id"], row["replaces"]) for row in held.messages() if row["replaces"]]
    known = {row["id"] for row in held.messages()}
    found, more = set(ids), True
    while more:
        linked = {one for pair in edits if found & set(pair) for one in pair} & known
        more = not linked <= found
        found |= linked
    return found


def asides(held: Held, judge: Judge) -> tuple[list[str], list[str]]:
    """Notes on marks and titles of chats that tell of it."""
    notes = {row["note"] for row in held.rows("marks") if row["note"] and judge.says(row["note"])}
    titles = {row["title"] for row in held.rows("chats") if row["title"] and judge.says(row["title"])}
    return sorted(notes), sorted(titles)


def waiting(held: Held, gone: set[str]) -> dict[tuple[str, date], int]:
    """How many of these messages are in no fragment yet, by chat and day."""
    summarised = {key for row in held.rows("fragments") for key in row["message_ids"] or []} if gone else set()
    counts = Counter(
        (row["chat_id"], row["day"]) for row in held.messages() if row["id"] in gone and row["id"] not in summarised
    )
    return dict(counts)


def plain(text: str) -> str:
    """A text, or JSON without its escapes: in them no name is found."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def heard(row: Row) -> str:
    """What a message says, and what its picture shows."""
    return "\n".join(filter(None, (row["text"], row["description"])))
