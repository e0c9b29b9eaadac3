SELECT max(day) AS day FROM backlog WHERE user_id = $user
