-- Whether a fragment with text waits for the night of $day; those of an earlier day that failed wait for that one.
SELECT count(*) > 0 AS waiting FROM fragments
WHERE user_id = $user AND day <= $day AND archived_on IS NULL AND status = 'summarised'
  AND day NOT IN (SELECT day FROM nights WHERE user_id = $user AND day < $day AND step = 'night' AND status IN ('failed', 'stuck'))
