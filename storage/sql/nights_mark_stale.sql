-- Later nights stood on the day that is being done again; they are shown as such, not redone by themselves.
UPDATE nights SET status = 'stale'
WHERE user_id = $user AND day > $day AND step = 'night' AND status = 'complete'
