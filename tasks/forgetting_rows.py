"""What forgetting makes of the rows of each table: gone, rewritten, or as they were. Reads and asks nothing.

A row whose every sentence tells of it goes, and so does one that rests on nothing else: on a sentence of a diary that
goes, on messages that go. What the owner wrote rests on nothing and goes only by its own words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from storage.events import Event
from storage.graves import Change
from storage.lake import Row
from tasks.subjects import Judge, rest

EMPTY = "empty"
DIGEST_CHARACTERS = 50


@dataclass
class Findings:
    """What has been found so far. dropped: sentences taken out of rows that stay or go, by fragment or diary day"""

    changes: list[Change] = field(default_factory=list)
    events: list[tuple[Event, Event | None]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    def rewrite(self, table: str, kind: str, key: str, row: Row, new: Row | None) -> None:
        """Note what a row becomes, if it becomes anything else."""
        if new != row:
            self.changes.append(Change(table, kind, key, row, new))


def fragments(found: Findings, judge: Judge, rows: Iterable[Row], gone: set[str], said: Mapping[str, str]) -> set[str]:
    """Fragments without the messages that go and without what they told; the ids of those that were touched.

    said: the text of each message by id
    """
    touched = set[str]()
    for row in rows:
        members = [key for key in row["message_ids"] or [] if key not in gone]
        kept = [said[key] for key in members if key in said]
        text, dropped = rest(judge, row["text"] or "", kept)
        if len(members) == len(row["message_ids"] or []) and not dropped:
            continue
        touched.add(row["id"])
        found.sentences += dropped
        new = row | {"message_ids": members, "text": text if row["text"] else row["text"]}
        if members:
            new |= {"first_message_id": members[0], "last_message_id": members[-1]}
        if row["status"] == "summarised" and not text:
            new |= {"status": EMPTY, "text": ""}
        found.rewrite("fragments", "fragment", row["id"], row, new if members else None)
    return touched


def diary(found: Findings, judge: Judge, row: Row, kept: Sequence[str]) -> list[str]:
    """A diary without what tells of it; returns the sentences that went."""
    text, dropped = rest(judge, row["text"], kept)
    found.sentences += dropped
    found.rewrite("diaries", "diary", row["id"], row, row | {"text": text} if text else None)
    return dropped


def lines(
    found: Findings, judge: Judge, rows: Iterable[Row], kept: Mapping[date, Sequence[str]], names: tuple[str, str, str]
) -> None:
    """The dated changes of cards or states, an item at a time; one none of whose words stay goes whole.

    kept: by day, what stays of what their evidence is from; names: of the table, of its column for the item, and of
    the kind
    """
    table, item, kind = names
    items = defaultdict[str, list[Row]](list)
    for row in rows:
        items[row[item]].append(row)
    for key, own in items.items():
        new = [_line(found, judge, row, kept.get(row["day"], ())) for row in own]
        worded = [one for one in new if one and one["text"] and one["op"] != "retire"]
        had_words = any(row["text"] and row["op"] != "retire" for row in own)
        for row, one in zip(own, new, strict=True):
            found.rewrite(table, kind, key, row, one if worded or not had_words else None)


def moments(found: Findings, judge: Judge, rows: Iterable[Row], kept: Mapping[date, Sequence[str]]) -> None:
    """The entries of the timeline."""
    for row in rows:
        new = _line(found, judge, row | {"op": "add", "changed_by": "night"}, kept.get(row["day"], ()))
        found.rewrite("timeline", "timeline", row["id"], row, {name: new[name] for name in row} if new else None)


def typed(found: Findings, judge: Judge, rows: Iterable[Row], table: str, gone: set[str]) -> None:
    """Facts, decisions and preferences: gone where a telling column tells of it, or all they rest on goes."""
    kind = table.removesuffix("s")
    for row in rows:
        evidence = [key for key in row["evidence"] or [] if key not in gone]
        told = [row.get(name) or "" for name in ("entity", "attribute", "value", "decision")]
        if (row["evidence"] and not evidence) or any(judge.says(text) for text in told):
            found.rewrite(table, kind, row["id"], row, None)
            continue
        new = row | {"evidence": evidence if row["evidence"] else row["evidence"]}
        for name in ("text", "digest", "reason"):
            if row.get(name):
                new[name], dropped = rest(judge, row[name])
                found.sentences += dropped
        if row.get("alternatives"):
            new["alternatives"] = [text for text in row["alternatives"] if not judge.says(text)]
            found.sentences += [text for text in row["alternatives"] if text not in new["alternatives"]]
        lost = row["text"] and not new["text"]
        found.rewrite(table, kind, row["id"], row, None if lost and "decision" not in row else new)


def event(found: Findings, judge: Judge, one: Event, kept: Sequence[str], alive: bool) -> None:
    """An event. alive: whether something it rests on is left. A rewritten one has no vector yet."""
    text, dropped = rest(judge, one.text, kept)
    title = "" if judge.says(one.title, kept) else one.title
    tags = tuple(tag for tag in one.tags if not judge.says(tag, kept))
    digest = "" if judge.says(one.digest, kept) else one.digest
    if not alive or not text:
        found.sentences += dropped
        found.events.append((one, None))
        return
    if (text, title, tags, digest) == (one.text, one.title, one.tags, one.digest):
        return
    found.sentences += [*dropped, *({one.title, one.digest, *one.tags} - {title, digest, *tags})]
    new = replace(one, text=text, title=title, tags=tags, digest=digest or text[:DIGEST_CHARACTERS])
    found.events.append((one, replace(new, vector=(), embed_model="")))


def whole(found: Findings, table: str, kind: str, rows: Iterable[Row]) -> None:
    """Rows that go as they are."""
    for row in rows:
        found.rewrite(table, kind, row["id"], row, None)


def _line(found: Findings, judge: Judge, row: Row, kept: Sequence[str]) -> Row | None:
    text, dropped = rest(judge, row["text"] or "", kept)
    evidence, unsaid = rest(judge, row["evidence"] or "", kept)
    found.sentences += [*dropped, *unsaid]
    if not dropped and not unsaid:
        return row
    new = row | {"text": text if row["text"] else row["text"], "evidence": evidence}
    groundless = bool(unsaid) and not evidence and row["changed_by"] != "owner" and row["op"] != "retire"
    return None if groundless or (dropped and not text and row["op"] != "retire") else new
