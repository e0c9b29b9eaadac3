-- When the newest message was sent, of all people.
SELECT max(sent_at) AS sent_at FROM messages
