"""The chat over Telegram: one room for each thing a bot has to get right."""
