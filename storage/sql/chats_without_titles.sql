UPDATE chats SET title = NULL WHERE user_id = $user AND title IN (SELECT unnest($titles))
