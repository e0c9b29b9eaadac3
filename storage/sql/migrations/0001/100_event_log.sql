-- The lake's side of the event table: which events each night made, or merged into an older one.
CREATE TABLE event_log (
    user_id VARCHAR, day DATE, step VARCHAR, event_id VARCHAR, op VARCHAR, evidence VARCHAR[]
)
