-- Messages of a user by id; the days leave out every file of another day.
SELECT id, chat_id, project, role, text, sent_at, day, kind, reply_to, replaces FROM messages
WHERE user_id = $user AND id IN (SELECT unnest($ids)) AND day BETWEEN $first AND $last
