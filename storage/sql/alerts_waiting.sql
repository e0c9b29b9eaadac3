-- What is to be told: what the path has kept waiting, and what was raised again after its hours of silence.
SELECT a.* REPLACE (CAST(a.count + coalesce(m.more, 0) AS INTEGER) AS count) FROM alerts a
LEFT JOIN (SELECT alert_key, sum(count) AS more FROM alerts WHERE status = 'more' GROUP BY alert_key) m USING (alert_key)
WHERE a.status IN ('unsent', 'over_unsent') OR (a.status = 'held' AND NOT EXISTS (
    SELECT 1 FROM alerts b WHERE b.alert_key = a.alert_key AND b.sent_at > $before
))
ORDER BY a.raised_at, a.id
