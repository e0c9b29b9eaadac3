"""Who is served: the owners the environment names, in their own chats with the bot. Nobody else is archived."""

from __future__ import annotations

from collections import Counter

from telegram import Update

from storage.home import Home


class Door:
    """Knows the owners, counts the strangers, and tells which of those has not been told off yet."""

    def __init__(self, home: Home, users: dict[int, str]) -> None:
        self._home, self._users = home, users
        self._told: set[int] | None = None
        self.strangers = Counter[int]()

    def user_of(self, update: Update) -> str | None:
        """The user an update comes from, if it is an owner's in a private chat."""
        sender, chat = update.effective_user, update.effective_chat
        if sender is None or chat is None or chat.type != "private":
            return None
        return self._users.get(sender.id)

    def is_first_visit(self, update: Update) -> bool:
        """Count a stranger; whether they should be told now that they are not served. Reads and writes the lake."""
        sender, chat = update.effective_user, update.effective_chat
        if sender is None or chat is None or chat.type != "private" or sender.is_bot or sender.id in self._users:
            return False
        self.strangers[sender.id] += 1
        if self._told is None:
            self._told = {int(row["telegram_id"]) for row in self._home.lake.rows("strangers_told")}
        if sender.id in self._told:
            return False
        row = {"telegram_id": sender.id, "told_at": self._home.clock.now()}
        self._home.lake.write(lambda tx: tx.insert("strangers", [row]))
        self._told.add(sender.id)
        return True
