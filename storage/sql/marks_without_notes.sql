-- Notes that name what is forgotten go; the marks stay.
UPDATE marks SET note = NULL WHERE user_id = $user AND note IN (SELECT unnest($notes))
