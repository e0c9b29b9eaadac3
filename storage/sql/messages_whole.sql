-- Whole rows of messages by id. Ids begin with their time, so the bounds leave out the files of other times.
SELECT * FROM messages WHERE user_id = $user AND id BETWEEN $first AND $last AND id IN (SELECT unnest($ids))
