-- Each request to forget, one row a change: begun, done, undone. way is 'grave' (undone for some days) or 'for_good'.
CREATE TABLE forgettings (
    id VARCHAR, user_id VARCHAR, way VARCHAR, status VARCHAR, counts JSON, changed_at TIMESTAMPTZ
)
