SELECT max(sent_at) AS sent_at FROM alerts WHERE alert_key = $key
