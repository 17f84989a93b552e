"""`FormBounds`: how much a SPARQL text may ask the planner to do, counted while it is parsed.

Place: between a request and the first analysis whose cost is more than linear. The native
evaluator plans a join of 200 patterns that share a variable for 7 s, and operators that stand some
thousands deep one in another overflow its stack, which ends the process. So the form of a text is
bounded before anything but the parser, which is linear, sees it (docs/limits.md). Data are no form:
the quads of DATA and of templates, the rows of VALUES, constants. The bounds are those of the
process: `set_bounds` takes them from the settings once, at the start.
"""

from dataclasses import dataclass

from gateway.errors import TooComplexError

_UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True)
class FormBounds:
    """The most of each, in a query or in one operation of an UPDATE; settings of [limits].

    `patterns` that are joined with each other: those of one group, of plain groups and of GRAPH in
    it; an OPTIONAL, UNION, VALUES, SERVICE or sub-SELECT is one, a path as many as its sequence has
    steps. `steps` of one path, branches included. `operators` of algebra and expressions; joined
    patterns count once more for each variable that two of them share, since a planner compares
    these with each other. `depth` is how many operators stand one in another: each element of a
    group, branch of a UNION, operand of `||` or `&&`, column and key holds those before it.
    """

    patterns: int = 200
    steps: int = 100
    operators: int = 10_000
    depth: int = 500


UNBOUNDED = FormBounds(_UNBOUNDED, _UNBOUNDED, _UNBOUNDED, _UNBOUNDED)
"""For a process that is given only what another one has admitted."""

_COUNTED = {
    "patterns": ("joins more than {} patterns", "divide it, or raise [limits] query_patterns"),
    "steps": ("has a path of more than {} steps", "shorten it, or raise [limits] query_steps"),
    "operators": ("has more than {} operators", "divide it, or raise [limits] query_operators"),
    "depth": ("has operators more than {} deep", "divide it, or raise [limits] query_depth"),
}

_bounds = FormBounds()


def set_bounds(bounds: FormBounds) -> None:
    """The bounds from now on, in the whole process."""
    global _bounds  # noqa: PLW0603  # as documented: the parser has no other way to settings
    _bounds = bounds


def bounds_in_force() -> FormBounds:
    """The bounds of this process."""
    return _bounds


def too_complex(bound: str, most: int) -> TooComplexError:
    """The error for a text that passes the bound with this name.

    >>> str(too_complex("steps", 100))
    'the query has a path of more than 100 steps (shorten it, or raise [limits] query_steps)'
    """
    what, hint = _COUNTED[bound]
    return TooComplexError(f"the query {what.format(most)}", hint)
