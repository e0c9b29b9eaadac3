"""How the line to Telegram is doing, for /status and for whoever asks whether the service is ready."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from time import monotonic
from typing import Literal

ALIVE_SECONDS = 120.0  # a long poll returns after 25 at the latest
log = logging.getLogger(__name__)


@dataclass
class Watch:
    """heard: when updates last could come through (time.monotonic); trouble: one sentence while something is wrong."""

    mode: Literal["polling", "webhook"]
    heard: float | None = None
    trouble: str = ""

    def well(self) -> None:
        """Note that messages come through."""
        self.heard = monotonic()
        self.calm()

    def calm(self) -> None:
        """Note that nothing is wrong any more."""
        if self.trouble:
            log.info("the line to Telegram is back")
        self.trouble = ""

    def ill(self, trouble: str) -> None:
        """Note what is wrong; the log says it once, however long it lasts."""
        if trouble != self.trouble:
            log.warning("Telegram: %s", trouble)
        self.trouble = trouble

    @property
    def silent_seconds(self) -> float | None:
        """Seconds since updates last could come through; None before they ever could."""
        return None if self.heard is None else monotonic() - self.heard

    @property
    def alive(self) -> bool:
        """Whether messages come through. A webhook is silent while nobody writes."""
        silent = self.silent_seconds
        return not self.trouble and silent is not None and (self.mode == "webhook" or silent < ALIVE_SECONDS)
