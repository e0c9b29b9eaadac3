"""WHAT: one step of work per file: read, ask a model, validate, return rows."""
