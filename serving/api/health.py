"""`/healthz` and `/readyz`, which need no key and say nothing of anybody."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from serving.api.schemas import Alive, Readiness

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=Alive)
async def alive() -> Alive:
    """The process answers. Needs no thread, so that it says so also when all of them are at work."""
    return Alive()


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness, "description": "what is not"}})
def ready(request: Request, response: Response) -> Readiness:
    """Whether each store and each model is ready; 503 with what is not."""
    found: Readiness = request.app.state.readiness.look()
    response.status_code = 200 if found.ready else 503
    return found
