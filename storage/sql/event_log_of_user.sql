-- What the nights wrote down about a user's events, one row an event: where it was made, and whether it was buried.
SELECT event_id,
       arg_min(day, day) FILTER (op = 'made') AS day,
       arg_min(step, day) FILTER (op = 'made') AS step,
       bool_or(op = 'buried') AS buried
FROM event_log
WHERE user_id = $user
GROUP BY event_id
ORDER BY event_id
