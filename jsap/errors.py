"""What can be wrong with a profile or with the values of a template.

    ValueError
    └── JsapError        a profile: source, JSON path, reason, what to do
        └── BindingError  the values for a template: template, variable

Place: raised where a profile is read and where a template is bound, before anything is sent.
"""

from collections.abc import Iterable
from typing import Self


class JsapError(ValueError):
    """A profile that cannot be used as it is.

    `path` is a JSON path in the file `source`, as `updates.SEND.forcedBindings.text`; `source` is
    empty where it is not known. `also` are others, found together with this one.
    """

    also: "tuple[JsapError, ...]" = ()

    def __init__(self, path: str, reason: str, what_to_do: str, source: str = "") -> None:
        self.path = path
        self.reason = reason
        self.what_to_do = what_to_do
        self.source = source
        place = ": ".join(part for part in (source, path) if part)
        super().__init__(f"{place}: {reason}; {what_to_do}" if place else f"{reason}; {what_to_do}")

    def at(self, source: str) -> "JsapError":
        """The same error, in the file `source` unless one is named already."""
        error = JsapError(self.path, self.reason, self.what_to_do, self.source or source)
        return error.with_others([each.at(source) for each in self.also])

    def with_others(self, others: "Iterable[JsapError]") -> Self:
        """The same error, which tells of the others too."""
        self.also = tuple(others)
        return self


class BindingError(JsapError):
    """A value that a template does not take, or one that it lacks; `variable` without `?`."""

    def __init__(self, template: str, variable: str, reason: str, what_to_do: str) -> None:
        self.template = template
        self.variable = variable
        super().__init__(f"template {template}, ?{variable}", reason, what_to_do)
