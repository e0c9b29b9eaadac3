DELETE FROM forgotten WHERE request = $request
