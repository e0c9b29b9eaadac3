"""The HTTP API: one module for each thing it answers, the shapes in schemas.py."""
