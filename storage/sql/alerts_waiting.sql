-- What is to be told: what the path has kept waiting, and what was raised again after its hours of silence.
SELECT a.* FROM alerts a
WHERE a.status IN ('unsent', 'over_unsent') OR (a.status = 'held' AND NOT EXISTS (
    SELECT 1 FROM alerts b WHERE b.alert_key = a.alert_key AND b.sent_at > $before
))
ORDER BY a.raised_at, a.id
