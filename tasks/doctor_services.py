"""The doctor at what lies outside: models, Telegram, the bucket. Nothing is asked of a model that costs money."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from storage import backup_bucket
from storage.config import ChatEndpoint, Environment
from storage.errors import NightkeeperError
from tasks.clients.reaching import reach_chat, reach_telegram
from tasks.findings import Finding


def models(environment: Environment) -> Iterator[Finding]:
    """Every chat model that is set."""
    named = {"chat model": environment.chat, "summary model": environment.summary, "vision model": environment.vision}
    for name, endpoint in named.items():
        if endpoint is not None:
            wanted = f"check NIGHTKEEPER_{name.split()[0].upper()}__URL and its key"
            yield _reached(name, partial(_model, endpoint), wanted)
    if environment.batch_model is None:
        yield Finding("model", "none is set: the extractive engine answers")


def telegram(environment: Environment) -> Iterator[Finding]:
    """The bot, where there is one."""
    bot = environment.telegram
    if bot is not None:
        yield _reached("telegram", lambda: reach_telegram(bot), "check NIGHTKEEPER_TELEGRAM__TOKEN and the network")
        if not bot.users:
            yield Finding("telegram", "no owner is named", "name one in NIGHTKEEPER_TELEGRAM__OWNERS")


def bucket(environment: Environment) -> Iterator[Finding]:
    """The bucket backups go to, where there is one."""
    backup = environment.backup
    if backup.bucket:
        yield _reached(
            "bucket", lambda: f"{len(backup_bucket.stored(backup))} file(s) in {backup.bucket}",
            "check NIGHTKEEPER_BACKUP__BUCKET, its endpoint and keys",
        )  # fmt: skip


def _model(endpoint: ChatEndpoint) -> str:
    return f"{reach_chat(endpoint)} at {endpoint.url}"


def _reached(what: str, look: Callable[[], str], wanted: str) -> Finding:
    try:
        return Finding(what, look())
    except NightkeeperError as error:
        return Finding(what, str(error), wanted)


LOOKS = (models, telegram, bucket)
