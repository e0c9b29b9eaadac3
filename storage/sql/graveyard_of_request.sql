-- What one request to forget has laid into the graveyard.
SELECT id, user_id, kind, body, day FROM graveyard WHERE reason = $reason ORDER BY kind, id
