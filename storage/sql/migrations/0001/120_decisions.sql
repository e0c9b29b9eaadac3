CREATE TABLE decisions (
    id VARCHAR, user_id VARCHAR, project VARCHAR, decision VARCHAR, reason VARCHAR, alternatives VARCHAR[],
    domain VARCHAR, text VARCHAR, digest VARCHAR, confidence DOUBLE, importance DOUBLE, evidence VARCHAR[],
    decided_at TIMESTAMPTZ, made_at TIMESTAMPTZ
)
