SELECT snapshot_id, changes_made FROM __ducklake_metadata_lake.ducklake_snapshot_changes WHERE snapshot_id >= $id
