SELECT DISTINCT user_id FROM backlog ORDER BY user_id
