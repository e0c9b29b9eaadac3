"""THE DAY: one chat turn, context, recall, Telegram, HTTP."""
