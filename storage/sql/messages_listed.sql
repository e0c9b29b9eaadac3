-- Messages of a user by id, word for word. The days leave out every file of another day.
SELECT id, project, role, text, sent_at, day, replaces FROM messages
WHERE user_id = $user AND id IN (SELECT unnest($ids)) AND day IN (SELECT unnest($days)) AND day BETWEEN $first AND $last
