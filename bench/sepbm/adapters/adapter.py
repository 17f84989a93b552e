"""`Adapter`: a publish/subscribe system as the runner of SEP-BM sees it.

Place on the way of the data: between the runner and the system that is measured. Source: Murth et
al., "Performance Testing of Semantic Publish/Subscribe Systems", section 3.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import process_time
from typing import Any

from bench.city.child import resident_bytes
from bench.sepbm.lubm import Statement

Tell = Callable[[str, Iterable[Sequence[object]], Iterable[Sequence[object]], float], None]
"""A channel, the rows that it gained and lost, and when they were there (s, perf_counter).

The text of a term in a row is its N-Triples form.
"""


class Adapter(ABC):
    """One system with one set of data, which it is given once."""

    notes: Sequence[str] = ()
    """What a reader of its figures must know."""
    may_be_late = False
    """Whether rows may come with a later publication than the one that they follow from."""

    @abstractmethod
    def load(self, base: Sequence[Statement]) -> None:
        """Hold the data that is not published, and all that follows from it."""

    @abstractmethod
    def create_channel(self, name: str, text: str) -> None:
        """Have a channel for a query."""

    @abstractmethod
    def delete_channel(self, name: str) -> None:
        """Have it no more; nobody subscribes to it."""

    @abstractmethod
    def subscribe(self, name: str, tell: Tell) -> int:
        """Hear of a channel's changes; the number of rows in its first answer."""

    @abstractmethod
    def unsubscribe(self, name: str) -> None:
        """Hear of it no more."""

    def prepare(self, graph: Sequence[Statement], *, insert: bool) -> Any:
        """The request that publishes or deletes a graph; making it is not measured."""
        del insert
        return graph

    @abstractmethod
    def publish(self, request: Any) -> None:
        """Add a graph; the update is answered when it returns."""

    @abstractmethod
    def delete(self, request: Any) -> None:
        """Take a graph away; as `publish`."""

    def wait(self, seconds: float) -> bool:
        """Wait for something to tell; False where nothing more comes by itself."""
        del seconds
        return False

    def settle(self) -> bool:
        """Tell what is late; whether there may have been something."""
        return False

    def cpu_s(self) -> float:
        """CPU time that the system has used so far."""
        return process_time()

    def memory_bytes(self) -> int | None:
        """Resident memory of the system, where it can be known."""
        return resident_bytes()

    def components_ms(self) -> Mapping[str, float] | None:
        """CPU ms so far by component; None where it does not say."""
        return None

    def guessed(self) -> Mapping[str, Mapping[str, float]]:
        """By channel what came of guesses: `hits`, `rows`, `tested`, `wrong`, `late`."""
        return {}

    @abstractmethod
    def close(self) -> None:
        """End; always called."""


def n_triples(statements: Iterable[Statement]) -> bytes:
    """Statements as a document."""
    return "".join([f"{s} {p} {o} .\n" for s, p, o in statements]).encode()


def update_text(operation: str, statements: Iterable[Statement]) -> str:
    """`INSERT DATA` or `DELETE DATA` of statements."""
    return f"{operation} {{ {n_triples(statements).decode()}}}"
