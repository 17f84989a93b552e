"""JSAP profiles: SPARQL templates with forced bindings; knows nothing of the gateway."""

from jsap.errors import BindingError, JsapError
from jsap.profile import Profile, load_profile
from jsap.template import Template

__all__ = ["BindingError", "JsapError", "Profile", "Template", "load_profile"]
