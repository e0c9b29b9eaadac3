-- How many messages are in no fragment yet.
SELECT coalesce(sum(change), 0)::INTEGER AS messages FROM backlog WHERE user_id = $user
