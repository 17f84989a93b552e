"""The SUB engine: which query results an UPDATE added and removed."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.engine.delayed import DelayedUpdate
    from gateway.engine.engine import Engine
    from gateway.engine.explain import Explanation, Standing
    from gateway.engine.limits import Limits
    from gateway.engine.notification import Notification, Outcome
    from gateway.engine.options import EngineOptions
    from gateway.engine.request import QueryRequest, SubscribeRequest, UpdateRequest
    from gateway.rdf.dataset import Dataset
    from gateway.rdf.rights import Rights
    from gateway.reasoning.reasoning import Reasoning

__all__ = [
    "Dataset",
    "DelayedUpdate",
    "Engine",
    "EngineOptions",
    "Explanation",
    "Limits",
    "Notification",
    "Outcome",
    "QueryRequest",
    "Reasoning",
    "Rights",
    "Standing",
    "SubscribeRequest",
    "UpdateRequest",
]

_HOMES = {
    "Dataset": "gateway.rdf.dataset",
    "DelayedUpdate": "gateway.engine.delayed",
    "Engine": "gateway.engine.engine",
    "EngineOptions": "gateway.engine.options",
    "Explanation": "gateway.engine.explain",
    "Limits": "gateway.engine.limits",
    "Notification": "gateway.engine.notification",
    "Outcome": "gateway.engine.notification",
    "QueryRequest": "gateway.engine.request",
    "Reasoning": "gateway.reasoning.reasoning",
    "Rights": "gateway.rdf.rights",
    "Standing": "gateway.engine.explain",
    "SubscribeRequest": "gateway.engine.request",
    "UpdateRequest": "gateway.engine.request",
}


def __getattr__(name: str) -> object:
    """Loaded when it is asked for (PEP 562): a process beside the engine starts without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
