SELECT id, user_id FROM chats WHERE user_id IN (SELECT unnest($users))
