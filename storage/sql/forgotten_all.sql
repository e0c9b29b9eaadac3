SELECT user_id, kind, id, day, request, forgotten_at FROM forgotten ORDER BY user_id, kind, id
