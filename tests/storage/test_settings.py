"""Knobs: set, seen, set back, still there; and what is refused."""

from __future__ import annotations

from datetime import time
from typing import Literal, get_origin

import pytest

from storage.errors import NightkeeperError
from storage.home import Home
from storage.knobs import Knobs
from storage.lake import Lake
from storage.settings import read_knobs, set_knob


def test_set_seen_set_back_and_still_there(home: Home) -> None:
    set_knob(home.lake, home.clock, "fragment_messages", 30, "owner")
    assert home.knobs().fragment_messages == 30
    set_knob(home.lake, home.clock, "night_hour", "02:00", "owner")
    set_knob(home.lake, home.clock, "fragment_messages", 24, "owner")
    elsewhere = Lake(home.path, home.environment.zone)
    assert read_knobs(elsewhere).fragment_messages == 24
    assert read_knobs(elsewhere).night_hour == time(2, 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "", None, -1, 10**9, "many"])
@pytest.mark.parametrize("name", ["fragment_messages", "event_merge_similarity", "night_hour"])
def test_what_makes_no_sense_is_refused_in_a_sentence(home: Home, name: str, value: object) -> None:
    with pytest.raises(NightkeeperError, match=name):
        set_knob(home.lake, home.clock, name, value, "owner")
    assert home.knobs() == Knobs()


def test_an_unknown_knob_is_refused(home: Home) -> None:
    with pytest.raises(NightkeeperError, match="no_such"):
        set_knob(home.lake, home.clock, "no_such", 1, "owner")


def test_every_knob_has_bounds_and_both_languages() -> None:
    for name, field in Knobs.model_fields.items():
        assert field.description, name
        assert isinstance(field.json_schema_extra, dict), name
        assert field.json_schema_extra["zh"], name
        bounded = field.metadata or get_origin(field.annotation) is Literal or name == "night_hour"
        assert bounded, f"{name} has no bounds"
