"""Sends alerts to the owner's Telegram, past the bot: by a client, and perhaps a token, of their own."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import httpx

from storage.config import Environment
from storage.errors import NightkeeperError

OFFICIAL = "https://api.telegram.org"
TIMEOUT = httpx.Timeout(15.0, connect=5.0)
LONGEST = 2_000  # characters; Telegram takes 4,096 UTF-16 units


class UnsentError(NightkeeperError):
    """The path is down; what was to be said waits."""


@dataclass(frozen=True)
class AlertSender:
    """The way to one Telegram chat."""

    api_url: str
    token: str
    chat: str

    def send(self, text: str) -> None:
        """Say something; `LONGEST` characters of it. Raises UnsentError, which holds neither token nor address."""
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, and the token is in them
        body = {"chat_id": self.chat, "text": text[:LONGEST], "link_preview_options": {"is_disabled": True}}
        url = f"{self.api_url.rstrip('/')}/bot{self.token}/sendMessage"
        try:
            response = httpx.post(url, json=body, timeout=TIMEOUT)
        except httpx.HTTPError as error:
            raise UnsentError(f"Telegram cannot be reached ({type(error).__name__})") from None
        if response.is_error:
            raise UnsentError(f"Telegram does not take the alert (HTTP {response.status_code})")


def open_sender(environment: Environment) -> AlertSender | None:
    """The path the environment names: the alerts' own token and chat, or the bot's token and its first owner."""
    own, bot = environment.alerts, environment.telegram
    token = own.token.get_secret_value() or (bot.token.get_secret_value() if bot else "")
    chat = own.chat or (next(map(str, bot.users), "") if bot else "")
    if not token or not chat:
        return None
    return AlertSender(own.api_url or (bot.api_url if bot else OFFICIAL), token, chat)
