-- What the nights since a moment asked of models, by user and business day.
SELECT user_id, day, count(*) AS calls, count(*) FILTER (outcome <> 'ok') AS failed,
       coalesce(sum(tokens_in), 0) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out
FROM model_calls WHERE called_at >= $since GROUP BY user_id, day
