CREATE TABLE preferences (
    id VARCHAR, user_id VARCHAR, attribute VARCHAR, value VARCHAR, text VARCHAR, digest VARCHAR, confidence DOUBLE,
    importance DOUBLE, status VARCHAR, evidence VARCHAR[], confirmed_at TIMESTAMPTZ, superseded_by VARCHAR,
    made_at TIMESTAMPTZ
)
