SELECT kind, id FROM forgotten WHERE user_id = $user
