"""The steps of a night by name, in their order; light to import, for the command line and Prefect's form."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """A step of the night."""

    flush_fragments = "flush_fragments"
    settle_states = "settle_states"
    write_diary = "write_diary"
    update_cards = "update_cards"
    recheck_states = "recheck_states"
    extract_events = "extract_events"
    collect_garbage = "collect_garbage"
