"""WHEN: order, schedules, retries and leases. No SQL, no prompts, no model calls."""
