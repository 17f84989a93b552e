"""JSAP profiles: SPARQL templates with forced bindings; knows nothing of the gateway."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsap.errors import BindingError, JsapError
    from jsap.profile import Profile, load_profile
    from jsap.template import Template

__all__ = ["BindingError", "JsapError", "Profile", "Template", "load_profile"]

_HOMES = {
    "BindingError": "jsap.errors",
    "JsapError": "jsap.errors",
    "Profile": "jsap.profile",
    "Template": "jsap.template",
    "load_profile": "jsap.profile",
}


def __getattr__(name: str) -> object:
    """Loaded when it is asked for (PEP 562): who wants the lexer starts without the profiles."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
