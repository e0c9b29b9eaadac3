"""Which of the changes a model proposes to the cards may be made, and how many may not, because of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tasks.grounding import ungrounded
from tasks.likeness import alike, alike_any, keeps_most, plain
from tasks.sentences import quoted
from tasks.soundness import Grounds, unsound

if TYPE_CHECKING:
    from tasks.cards import CardChange, TimelineDraft

LONGEST = 200
KEPT_AS_PAST = ("recent", "preferences")
Change = dict[str, Any]


@dataclass(frozen=True)
class CardsDay:
    """What a day's changes are judged by.

    lines: the card lines the model was shown, by ref (item_id, dimension, text, since, locked); hidden: the texts of
    further live lines; removed: those of lines the owner took away
    """

    day: str
    diary: str
    lines: Mapping[str, Mapping[str, Any]]
    hidden: Sequence[str]
    removed: Sequence[str]
    grounds: Grounds

    @property
    def live(self) -> list[str]:
        """The texts of all live lines."""
        return [*(line["text"] for line in self.lines.values()), *self.hidden]


@dataclass(frozen=True)
class Dropped:
    """A proposal that is not made, and why, in one word for the counts."""

    reason: str


def judged(proposals: Sequence[CardChange], day: CardsDay) -> tuple[list[Change], Counter[str]]:
    """The changes to make (op, item_id, dimension, text, evidence, ended), and the counts of what was dropped.

    ended: the old line (dimension, text, since) where it no longer holds and is kept as past, else None
    """
    changes, counts = list[Change](), Counter[str]()
    for proposal in proposals:
        change = _judge(proposal, day, changes)
        if isinstance(change, Dropped):
            counts[change.reason] += 1
        else:
            changes.append(change)
    return _without_idle_turns(changes, proposals, counts), counts


def timeline_entry(draft: TimelineDraft, day: CardsDay, earlier: Sequence[str]) -> dict[str, str] | Dropped:
    """The timeline row of a draft (text, happened_on, evidence), or why there is none."""
    evidence = quoted(draft.evidence, day.diary)
    if evidence is None:
        return Dropped("no_evidence")
    reason = unsound(draft.text.strip(), evidence, day.grounds, LONGEST)
    if reason:
        return Dropped(reason)
    if alike_any(draft.text, earlier):
        return Dropped("duplicate")
    told = draft.happened_on.isoformat() if draft.happened_on else day.day
    sound = told <= day.day and not ungrounded(told, [day.diary, day.day])
    return {"text": draft.text.strip(), "happened_on": told if sound else day.day, "evidence": evidence}


def _judge(proposal: CardChange, day: CardsDay, made: Sequence[Change]) -> Change | Dropped:
    line = day.lines.get(proposal.item.strip().strip("[]()"))
    adds = proposal.op == "add" and not (line and proposal.contradicts)
    if not adds and (line is None or line["locked"] or any(change["item_id"] == line["item_id"] for change in made)):
        return Dropped("unknown_ref" if line is None else "locked" if line["locked"] else "repeated")
    evidence = quoted(proposal.evidence, day.diary)
    if evidence is None:
        return Dropped("no_evidence")
    if adds or line is None:
        return _add(proposal, evidence, day, made)
    return _retire(line, evidence) if proposal.op == "retire" else _revise(proposal, line, evidence, day)


def _add(proposal: CardChange, evidence: str, day: CardsDay, made: Sequence[Change]) -> Change | Dropped:
    text = proposal.text.strip()
    reason = unsound(text, evidence, day.grounds, LONGEST)
    if reason:
        return Dropped(reason)
    if alike_any(text, day.removed):
        return Dropped("removed_by_owner")
    if alike_any(text, [*day.live, *(change["text"] for change in made if change["op"] != "retire")]):
        return Dropped("duplicate")
    return _change("add", "", proposal.dimension.value, text, evidence, None)


def _retire(line: Mapping[str, Any], evidence: str) -> Change:
    return _change("retire", line["item_id"], line["dimension"], line["text"], evidence, line)


def _revise(proposal: CardChange, line: Mapping[str, Any], evidence: str, day: CardsDay) -> Change | Dropped:
    text = proposal.text.strip()
    if plain(text) == plain(line["text"]):
        return Dropped("unchanged")
    reason = unsound(text, evidence, day.grounds, LONGEST, line["text"])
    if reason:
        return Dropped(reason)
    ended = proposal.contradicts or not keeps_most(text, line["text"])
    others = [*(other["text"] for other in day.lines.values() if other is not line), *day.hidden]
    if alike_any(text, others):
        return _retire(line, evidence) if ended else Dropped("duplicate")
    return _change("revise", line["item_id"], line["dimension"], text, evidence, line if ended else None)


def _change(op: str, item_id: str, dimension: str, text: str, evidence: str, ended: Mapping[str, Any] | None) -> Change:
    past = ended if dimension in KEPT_AS_PAST else None
    return {
        "op": op,
        "item_id": item_id,
        "dimension": dimension,
        "text": text,
        "evidence": evidence,
        "ended": {name: past[name] for name in ("dimension", "text", "since")} if past else None,
    }


def _without_idle_turns(changes: list[Change], proposals: Sequence[CardChange], counts: Counter[str]) -> list[Change]:
    """Not retired: a line that the same answer adds again, word for word or nearly so."""
    added = [proposal.text for proposal in proposals if proposal.op == "add"]
    retired = [change for change in changes if change["op"] == "retire"]
    idle = [change for change in retired if any(alike(text, change["text"]) for text in added)]
    counts["unchanged"] += len(idle)
    return [change for change in changes if change not in idle]
