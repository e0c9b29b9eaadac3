-- Everybody who ever said something: the first day they did, and when a night of theirs was last completed.
SELECT b.user_id, min(b.day) AS first_day,
       (SELECT max(n.finished_at) FROM nights n
        WHERE n.user_id = b.user_id AND n.step = 'night' AND n.status IN ('complete', 'stale')) AS finished_at
FROM backlog b GROUP BY b.user_id ORDER BY b.user_id
