SELECT id, replaces FROM messages WHERE day BETWEEN $first AND $last AND replaces IS NOT NULL
