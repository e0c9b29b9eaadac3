-- The lake's snapshots of before a moment but for the newest; their times are text, in the zone of who wrote them.
SELECT snapshot_id AS id FROM __ducklake_metadata_lake.ducklake_snapshot
WHERE CAST(snapshot_time AS TIMESTAMPTZ) < $before
  AND snapshot_id < (SELECT max(snapshot_id) FROM __ducklake_metadata_lake.ducklake_snapshot)
ORDER BY snapshot_id
