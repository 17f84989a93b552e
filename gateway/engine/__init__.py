"""The SUB engine: which query results an UPDATE added and removed."""

from gateway.engine.delayed import DelayedUpdate
from gateway.engine.engine import Engine, Outcome
from gateway.engine.explain import Explanation
from gateway.engine.limits import Limits
from gateway.engine.notification import Notification
from gateway.rdf.rights import Rights

__all__ = [
    "DelayedUpdate",
    "Engine",
    "Explanation",
    "Limits",
    "Notification",
    "Outcome",
    "Rights",
]
