SELECT count(*) AS rows FROM model_calls WHERE called_at < $before
