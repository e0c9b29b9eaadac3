-- The days up to $until that a night has not closed: spoken ones, begun ones, and the silent calendar days
-- after the later of the last closed night and $until - $catch_up. None before the first message.
WITH spoken AS (SELECT day FROM backlog WHERE user_id = $user AND day <= $until GROUP BY day),
     begun AS (SELECT day, status FROM nights WHERE user_id = $user AND step = 'night' AND day <= $until),
     closed AS (SELECT day FROM begun WHERE status IN ('complete', 'stale')),
     bounds AS (
         SELECT (SELECT min(day) FROM spoken) AS first_day,
                greatest((SELECT max(day) FROM closed), CAST($until AS DATE) - CAST($catch_up AS INTEGER)) AS quiet_after
     ),
     silent AS (
         SELECT CAST(unnest(generate_series(quiet_after + 1, CAST($until AS DATE), INTERVAL 1 DAY)) AS DATE) AS day
         FROM bounds
     ),
     wanted AS (SELECT day FROM spoken UNION SELECT day FROM begun UNION SELECT day FROM silent)
SELECT day FROM wanted
WHERE day NOT IN (SELECT day FROM closed) AND day >= (SELECT first_day FROM bounds)
ORDER BY day
