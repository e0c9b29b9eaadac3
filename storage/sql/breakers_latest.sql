SELECT in_a_row, outcome, ask_again_at, changed_at FROM breakers WHERE name = $breaker ORDER BY changed_at DESC LIMIT 1
