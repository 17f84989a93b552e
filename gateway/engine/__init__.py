"""The SUB engine: which query results an UPDATE added and removed."""

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
