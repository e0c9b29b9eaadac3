"""Asks Prefect's API for a run of the micro-batch, beside the turn and never in its way.

A run is asked for when a fragment is due, at most one a user in 45 s, and one only for the same messages: Prefect
knows them by a key, so that runs do not pile up while no worker takes them. What is asked of Prefect names the user
and nothing that was said.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from concurrent.futures import Future
from time import monotonic

import httpx

from serving.service import Service
from storage.ids import digest
from tasks.cutting import cuts

DEPLOYMENT = "microbatch/every-10-minutes"
APART_SECONDS = 45.0
USERS_KEPT = 1_000
TIMEOUT = httpx.Timeout(3.0, connect=0.5)
log = logging.getLogger(__name__)
_guard = threading.Lock()
_asked = OrderedDict[tuple[str, str], float]()
_running = dict[tuple[str, str], Future[None]]()
_away = set[str]()  # the homes whose server did not answer when it was asked last


def ask_for_microbatch(service: Service, user: str) -> Future[None] | None:
    """Have a thread ask for a run if one is due; returns at once, None when one was asked for a moment ago.

    While a thread is at it for this user, that is what is returned.
    """
    key = _key(service, user)
    with _guard:
        running, last = _running.get(key), _asked.get(key)
        if running is not None:
            return running
        if last is not None and monotonic() - last < APART_SECONDS:
            return None
        started = _running[key] = service.pool.submit(_ask, service, user)
    started.add_done_callback(lambda _: _running.pop(key, None))
    return started


def is_away(service: Service) -> bool:
    """Whether Prefect's server did not answer when it was asked last."""
    with _guard:
        return str(service.home.path) in _away


def _ask(service: Service, user: str) -> None:
    home = service.home
    try:
        due = cuts(home, user, home.business_day(home.clock.now()), everything=False)
        if due and _first_in_a_while(service, user):
            first = due[0][2][0].rows[0]["id"]
            _run(home.environment.prefect_url, user, digest(user, str(first)))
            _noted(service, None)
    except httpx.HTTPError as error:
        _noted(service, type(error).__name__)
    except Exception as error:  # the night will do it
        log.warning("no micro-batch could be asked for: %s", type(error).__name__)


def _run(url: str, user: str, key: str) -> None:
    with httpx.Client(timeout=TIMEOUT, trust_env=False) as api:
        deployment = api.get(f"{url}/deployments/name/{DEPLOYMENT}").raise_for_status().json()
        wanted = {"parameters": {"user": user}, "idempotency_key": f"microbatch-{key}"}
        api.post(f"{url}/deployments/{deployment['id']}/create_flow_run", json=wanted).raise_for_status()


def _first_in_a_while(service: Service, user: str) -> bool:
    """Take the user's place in these 45 s, whether the asking succeeds or not."""
    key, now = _key(service, user), monotonic()
    with _guard:
        if now - _asked.get(key, now - APART_SECONDS) < APART_SECONDS:
            return False
        _asked[key] = now
        _asked.move_to_end(key)
        while len(_asked) > USERS_KEPT:
            _asked.popitem(last=False)
    return True


def _noted(service: Service, error: str | None) -> None:
    """Say once that the server is away, and once that it is back."""
    home = str(service.home.path)
    with _guard:
        before = home in _away
        (_away.add if error else _away.discard)(home)
    if error and not before:
        log.warning("Prefect's server does not answer (%s); fragments wait for it", error)
    elif before and not error:
        log.info("Prefect's server answers again")


def _key(service: Service, user: str) -> tuple[str, str]:
    return str(service.home.path), user
