-- What the night of $day takes up: not archived yet, or archived by this very night. An earlier day whose own night
-- failed keeps its fragments until that night closes, so what cannot be told there does not hold up later days.
SELECT id, day, status, text, language, from_at, to_at FROM fragments
WHERE user_id = $user AND day <= $day AND (archived_on IS NULL OR archived_on = $day)
  AND day NOT IN (SELECT day FROM nights WHERE user_id = $user AND day < $day AND step = 'night' AND status IN ('failed', 'stuck'))
ORDER BY from_at, id
