DELETE FROM model_calls WHERE called_at < $before
