"""Which of the events a model proposes are kept: those that rest on fragments and say nothing these do not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tasks.digests import digest_of
from tasks.grounding import ungrounded
from tasks.likeness import plain
from tasks.soundness import Grounds, unsound

if TYPE_CHECKING:
    from tasks.events import EventDraft

LONGEST = 600
LONGEST_TITLE = 40
MOST_TAGS = 12
FARTHEST_BACK = timedelta(days=366)  # of what was told that day; farther back is more likely a slip than a memory


def judged_event(
    draft: EventDraft, refs: Mapping[str, Mapping[str, Any]], grounds: Grounds, day: str, counts: Counter[str]
) -> dict[str, Any] | None:
    """The row of a draft, or None; what is dropped is counted.

    refs: the batch's fragments by ref; grounds: its messages, each with the fragment it is in
    """
    fragments = _fragments(draft.fragments, refs, counts)
    if not fragments:
        counts["dropped_no_fragments"] += 1
        return None
    mine = _grounds_of(fragments, grounds)
    text = (draft.text or draft.title).strip()
    reason = unsound(text, "", mine, LONGEST)
    if reason:
        counts[f"dropped_{reason}"] += 1
        return None
    text = _with_reaction(text, draft.reaction.strip(), mine)
    return {
        "title": _title(draft.title.strip(), text, mine),
        "text": text,
        "digest": digest_of(draft.title.strip() if _fits(draft.title, mine) else "", text),
        "happened_on": _happened_on(draft.happened_on, fragments, mine, day),
        "tags": _tags([*draft.people, *draft.things], mine),
        "importance": round(draft.importance, 3),
        "confidence": round(draft.confidence, 3),
        "evidence": sorted(fragment["id"] for fragment in fragments),
        "project": fragments[0]["project"],
    }


def _fragments(
    named: Sequence[str], refs: Mapping[str, Mapping[str, Any]], counts: Counter[str]
) -> list[Mapping[str, Any]]:
    known = list[str]()
    for ref in dict.fromkeys(name.strip(" []().").lower() for name in named):
        if ref in refs:
            known.append(ref)
        else:
            counts["dropped_unknown_ref"] += 1
    return [refs[ref] for ref in sorted(known, key=lambda ref: int(ref[1:]))]


def _grounds_of(fragments: Sequence[Mapping[str, Any]], grounds: Grounds) -> Grounds:
    """What an event may draw on: its own fragments and their messages, no others'."""
    ids = {fragment["id"] for fragment in fragments}
    messages = [message for message in grounds.messages if message["fragment"] in ids]
    told = [part for fragment in fragments for part in (fragment["text"], fragment["from"], fragment["to"])]
    said = [part for message in messages for part in (message["text"], message["at"])]
    return replace(grounds, sources=[*told, *said], messages=messages)


def _with_reaction(text: str, reaction: str, grounds: Grounds) -> str:
    if not reaction or plain(reaction) in plain(text) or unsound(reaction, "", grounds, LONGEST_TITLE * 2):
        return text
    space = " " if grounds.language == "en" else ""
    ended = text if text[-1] in "。.!！?？…" else text + ("." if grounds.language == "en" else "。")
    return ended + space + reaction


def _fits(title: str, grounds: Grounds) -> bool:
    return bool(title.strip()) and unsound(title.strip(), "", grounds, LONGEST_TITLE) is None


def _title(title: str, text: str, grounds: Grounds) -> str:
    return title if _fits(title, grounds) else digest_of("", text)[:LONGEST_TITLE]


def _happened_on(told: date | None, fragments: Sequence[Mapping[str, Any]], grounds: Grounds, day: str) -> str:
    """The draft's date where the sources bear it out and it is not ahead of the day, else the first fragment's."""
    first = min(date.fromisoformat(fragment["day"]) for fragment in fragments)
    if told is None or not first - FARTHEST_BACK <= told <= date.fromisoformat(day):
        return first.isoformat()
    return first.isoformat() if ungrounded(told.isoformat(), grounds.sources) else told.isoformat()


def _tags(names: Sequence[str], grounds: Grounds) -> list[str]:
    """The people and things that are named in the sources."""
    said = plain("\n".join(grounds.sources))
    found = {name.strip() for name in names if plain(name) and plain(name) in said and len(name) <= 20}
    return sorted(found)[:MOST_TAGS]
