SELECT * FROM alerts WHERE alert_key = $key AND status IN ('unsent', 'sent', 'held') ORDER BY raised_at DESC LIMIT 1
