"""`AnswerBounds`: what the answer of a query may be, and how long it may take ([limits])."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerBounds:
    """Most solutions or triples, longest body, and the time for all of it."""

    solutions: int = 100_000
    result_bytes: int = 64 * 1024 * 1024
    timeout_s: float = 30.0
