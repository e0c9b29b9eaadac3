-- What the night of $day takes up: not archived yet, or archived by this very night.
SELECT id, day, status, text, language, from_at, to_at FROM fragments
WHERE user_id = $user AND day <= $day AND (archived_on IS NULL OR archived_on = $day)
ORDER BY from_at, id
