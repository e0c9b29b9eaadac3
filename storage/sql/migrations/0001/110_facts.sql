CREATE TABLE facts (
    id VARCHAR, user_id VARCHAR, project VARCHAR, scope VARCHAR, entity VARCHAR, attribute VARCHAR, value VARCHAR,
    text VARCHAR, digest VARCHAR, confidence DOUBLE, importance DOUBLE, status VARCHAR, evidence VARCHAR[],
    confirmed_at TIMESTAMPTZ, valid_from TIMESTAMPTZ, valid_to TIMESTAMPTZ, superseded_by VARCHAR, made_at TIMESTAMPTZ
)
