CREATE TABLE graveyard (
    id VARCHAR, user_id VARCHAR, kind VARCHAR, body JSON, reason VARCHAR, day DATE, buried_at TIMESTAMPTZ
)
