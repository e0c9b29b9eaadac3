SELECT * FROM alerts WHERE status IN ('unsent', 'sent', 'held') ORDER BY raised_at, id
