"""`over_of`: the windows of a profile's query, as the engine takes them."""

from gateway.windows.over import OVER_NOTHING, OverWindows, written_out
from jsap.template import Template


def over_of(template: Template) -> OverWindows:
    """Its members `windows` and `output`. Raises WindowError, which names member and reason."""
    return OverWindows.of(template.over, written_out) if template.over else OVER_NOTHING
