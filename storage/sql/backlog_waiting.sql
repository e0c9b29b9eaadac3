-- Whether messages up to $until are in no fragment yet.
SELECT count(*) > 0 AS waiting FROM (
    SELECT 1 FROM backlog WHERE user_id = $user AND day <= $until GROUP BY chat_id, day HAVING sum(change) > 0
)
