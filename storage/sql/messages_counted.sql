-- How many messages a user has had archived on each business day; for $user NULL, of everybody.
SELECT user_id, day, CAST(sum(change) AS BIGINT) AS messages FROM backlog
WHERE change > 0 AND ($user IS NULL OR user_id = $user)
GROUP BY user_id, day ORDER BY user_id, day
