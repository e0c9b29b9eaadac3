"""Looks whether each store and each model is ready, side by side and within seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from functools import partial
from time import monotonic

from serving.api.schemas import Check, Readiness
from serving.service import Service
from serving.telegram.watch import Watch
from storage.errors import NightkeeperError
from tasks.clients.reaching import reach_chat

WAIT_SECONDS = 4.0
MODEL_SECONDS = 3.0
KEPT_SECONDS = 15.0  # a model is asked no more often than this, for some of them cost money
AT_ONCE = ("lake", "events", "telegram")
Probe = Callable[[], str]


class Readinesses:
    """What was found of each part; a probe that hangs is not started again beside itself."""

    def __init__(self, service: Service, telegram: Watch | None = None) -> None:
        """Telegram: how the bot's line is doing, where there is a bot."""
        self._probes = _probes(service) | ({"telegram": lambda: _line(telegram)} if telegram else {})
        self._threads = ThreadPoolExecutor(len(self._probes), thread_name_prefix="ready")
        self._running, self._kept = dict[str, Future[str]](), dict[str, tuple[float, Check]]()
        self._guard = threading.Lock()

    def look(self) -> Readiness:
        """Every part as it is now, models as they were a moment ago."""
        deadline = monotonic() + WAIT_SECONDS
        with self._guard:
            asked = {name: self._ask(name) for name in self._probes if not self._fresh(name)}
        for name, probe in asked.items():
            self._kept[name] = (monotonic(), _result(probe, deadline))
        checks = {name: self._kept[name][1] for name in self._probes}
        return Readiness(ready=all(check.ready for check in checks.values()), checks=checks)

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, name: str) -> Future[str]:
        running = self._running.get(name)
        if running is None or running.done():
            running = self._running[name] = self._threads.submit(self._probes[name])
        return running

    def _fresh(self, name: str) -> bool:
        return name not in AT_ONCE and name in self._kept and monotonic() - self._kept[name][0] < KEPT_SECONDS


def _result(probe: Future[str], deadline: float) -> Check:
    try:
        return Check(ready=True, detail=probe.result(max(0.0, deadline - monotonic())))
    except TooLate:
        return Check(ready=False, detail="does not answer in time")
    except NightkeeperError as error:
        return Check(ready=False, detail=str(error))
    except Exception as error:
        return Check(ready=False, detail=f"cannot be used ({type(error).__name__})")


def _probes(service: Service) -> dict[str, Probe]:
    """A probe for each store and each model that is set; each says what it found, or raises."""
    environment = service.home.environment
    probes: dict[str, Probe] = {
        "lake": lambda: _lake(service),
        "events": lambda: f"{service.events.count():,} events",
        "embedder": lambda: _embedder(service),
    }
    if service.reranker is not None:
        probes["reranker"] = lambda: _reranker(service)
    endpoints = {"chat": environment.chat, "summary": environment.summary, "vision": environment.vision}
    for name, endpoint in endpoints.items():
        if endpoint is not None:
            probes[name] = partial(reach_chat, endpoint)
    if environment.chat is None:
        probes["chat"] = lambda: "no model is set; the engine that selects sentences answers"
    return probes


def _lake(service: Service) -> str:
    lake = service.home.lake
    if not lake.catalog.exists():
        raise NightkeeperError("the lake's catalog is gone")
    lake.rows("settings_current")
    return "can be read"


def _embedder(service: Service) -> str:
    service.embedder.embed_query("早")
    return service.embedder.model


def _reranker(service: Service) -> str:
    if service.reranker is None:
        return "none"
    service.reranker.scores("早", ["早上好"], MODEL_SECONDS)
    return service.reranker.model


def _line(telegram: Watch) -> str:
    if telegram.trouble:
        raise NightkeeperError(telegram.trouble)
    return telegram.mode
