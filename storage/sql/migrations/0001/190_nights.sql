-- The ledger: what the dashboard shows and a rerun goes by. Step 'night' is the whole of a day.
CREATE TABLE nights (
    user_id VARCHAR, day DATE, step VARCHAR, status VARCHAR, attempt INTEGER, started_at TIMESTAMPTZ,
    finished_at TIMESTAMPTZ, error VARCHAR, counts JSON
)
