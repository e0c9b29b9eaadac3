CREATE TABLE timeline (
    id VARCHAR, user_id VARCHAR, day DATE, happened_on DATE, text VARCHAR, evidence VARCHAR,
    made_by VARCHAR, made_at TIMESTAMPTZ
)
