-- What is not to come back by any way; what lies in the graveyard may, so it is left out.
SELECT user_id, kind, id, day, request, forgotten_at FROM forgotten
WHERE request NOT IN (SELECT id FROM forgettings WHERE way = 'grave')
ORDER BY user_id, kind, id
