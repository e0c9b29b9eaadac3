-- What has become of these messages' pictures.
SELECT message_id, status, description, changed_at FROM pictures
WHERE user_id = $user AND message_id IN (SELECT unnest($ids))
QUALIFY row_number() OVER (PARTITION BY message_id ORDER BY changed_at DESC) = 1
