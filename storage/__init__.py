"""WHERE: the lake, the event table, settings, clock and locks. Knows no model."""
