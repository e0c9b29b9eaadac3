SELECT max(snapshot_id) AS id FROM __ducklake_metadata_lake.ducklake_snapshot
