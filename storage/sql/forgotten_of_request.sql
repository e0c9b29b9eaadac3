SELECT user_id, kind, id, day FROM forgotten WHERE request = $request ORDER BY kind, id
