-- Everybody who has messages that are in no fragment yet.
SELECT DISTINCT user_id FROM (
    SELECT user_id FROM backlog GROUP BY user_id, chat_id, day HAVING sum(change) > 0
) ORDER BY user_id
