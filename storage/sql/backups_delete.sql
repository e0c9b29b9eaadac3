DELETE FROM backups WHERE list_contains($locations, location)
