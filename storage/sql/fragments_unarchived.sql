-- Whether a fragment with text of days up to $day waits for a night to take it up.
SELECT count(*) > 0 AS waiting FROM fragments
WHERE user_id = $user AND day <= $day AND archived_on IS NULL AND status = 'summarised'
