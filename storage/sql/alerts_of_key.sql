-- One row: the open alert of a key (its id is null when there is none), how often it was raised besides, and when
-- the key was last told.
WITH own AS (SELECT * FROM alerts WHERE alert_key = $key),
     open AS (SELECT * FROM own WHERE status IN ('unsent', 'sent', 'held') ORDER BY raised_at DESC LIMIT 1)
SELECT open.*, (SELECT CAST(coalesce(sum(count), 0) AS INTEGER) FROM own WHERE status = 'more') AS more,
       (SELECT max(sent_at) FROM own) AS told_at
FROM (SELECT 1) LEFT JOIN open ON true
