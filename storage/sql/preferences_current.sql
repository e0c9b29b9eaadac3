SELECT id, text, attribute, value, digest, confirmed_at FROM preferences
WHERE user_id = $user AND status = 'current' ORDER BY confirmed_at DESC, id
