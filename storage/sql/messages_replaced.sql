-- Every edit of a user: which message it replaces, and when it was made.
SELECT id, replaces, sent_at FROM messages WHERE user_id = $user AND replaces IS NOT NULL
