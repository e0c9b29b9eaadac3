SELECT DISTINCT telegram_id FROM strangers
