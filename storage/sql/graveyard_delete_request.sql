DELETE FROM graveyard WHERE reason = $reason
