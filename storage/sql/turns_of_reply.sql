SELECT id, injected, cited, tokens_in, tokens_out, tokens_cached, stages_ms, outcome, notes FROM turns
WHERE user_id = $user AND day BETWEEN $first AND $last AND reply_id = $reply
ORDER BY started_at LIMIT 1
