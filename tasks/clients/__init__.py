"""Clients for chat models and embedders, spoken to over HTTP."""
