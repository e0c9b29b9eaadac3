CREATE TABLE alerts (
    id VARCHAR, alert_key VARCHAR, text VARCHAR, count INTEGER, status VARCHAR, raised_at TIMESTAMPTZ, sent_at TIMESTAMPTZ
)
