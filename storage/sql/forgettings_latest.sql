-- What became of each request to forget, newest first.
SELECT id, user_id, way, status, counts, changed_at FROM forgettings
QUALIFY row_number() OVER (PARTITION BY id ORDER BY changed_at DESC, status = 'begun') = 1
ORDER BY changed_at DESC, id
