SELECT id, location, bytes, status, manifest, made_at, verified_at FROM backups ORDER BY made_at, location
