SELECT a.* REPLACE (CAST(a.count + coalesce(m.more, 0) AS INTEGER) AS count) FROM alerts a
LEFT JOIN (SELECT alert_key, sum(count) AS more FROM alerts WHERE status = 'more' GROUP BY alert_key) m USING (alert_key)
WHERE a.status IN ('unsent', 'sent', 'held') ORDER BY a.raised_at, a.id
