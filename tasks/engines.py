"""Which engine answers: the model that is configured, or the extractive one where none is."""

from __future__ import annotations

from datetime import date

from storage.home import Home
from tasks.clients.wires import open_chat
from tasks.extractive import ExtractiveEngine
from tasks.model_engine import ModelEngine, write_call
from tasks.questions import Engine


def open_engine(home: Home, user: str, day: date) -> Engine:
    """The engine of batches and nights; its calls are written down under `user` and `day`.

    Without a configured model it is the extractive engine, which selects sentences and invents nothing.
    """
    endpoint = home.environment.batch_model
    if endpoint is None:
        return ExtractiveEngine()
    return ModelEngine(open_chat(endpoint), write_call(home, user, day), home.knobs().guard_retries)
