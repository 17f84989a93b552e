"""`Documents`: RDF that comes from outside, parsed where it can do no harm.

    bytes → form (`document_form`) → a confined process → N-Triples → quads

Place: under the Graph Store gate and LOAD. What a document does to its parser, by its depth, its
entities or its size, costs who sent it an error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyoxigraph import Quad, RdfFormat, parse

from gateway.errors import BadRequestError, QueryTimeoutError, TooLargeError
from gateway.rdf.document_form import require_form
from gateway.rdf.document_process import ParseRequest
from gateway.runtime.confined import ConfinedProcesses, Confinement

_MODULE = "gateway.rdf.document_process"


_EXPANSION, _LEAST_BYTES = 20, 1024 * 1024
"""Written out, the triples of a document are at most so many times as long, or so long: a long
prefix makes gigabytes of a few kilobytes, which would be ours to hold."""


_LOOK = 1000
"""After so many triples it is asked whether anybody waits for them still."""


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How deep a document may be nested, and what parsing one may take."""

    depth: int = 100
    memory_bytes: int = 256 * 1024 * 1024
    seconds: float = 30.0


class Documents:
    """Parses documents, in any thread."""

    def __init__(self, limits: DocumentLimits | None = None) -> None:
        self._limits = limits or DocumentLimits()
        memory = self._limits.memory_bytes
        self.processes = ConfinedProcesses(
            Confinement(_MODULE, memory, "the document", "[limits] document_memory_bytes")
        )

    def close(self) -> None:
        """End the processes; nothing is parsed from now on."""
        self.processes.close()

    def triples(
        self,
        content: bytes,
        form: RdfFormat,
        base: str,
        most: int,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Iterator[Quad]:
        """The triples of all its graphs, in the default graph; blank nodes are fresh.

        Relative IRIs are resolved against `base`, where that is not "". Raises BadRequestError,
        TooLargeError for what is too deep, too long, more than `most` triples or too much memory,
        QueryTimeoutError.
        """
        limits = self._limits
        require_form(content, form, limits.depth)
        most_bytes = max(_LEAST_BYTES, _EXPANSION * len(content))
        request = ParseRequest(content, form.media_type, base, most, most_bytes)
        written = self.processes.ask(request, limits.seconds, is_wanted)
        return iter(parse(written, RdfFormat.N_TRIPLES))

    def lines(
        self, content: bytes, most: int, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[Quad]:
        """The triples of N-Triples, in order; blank nodes are fresh.

        Parsed here: what a line takes is linear in it, once it is not nested. Raises
        BadRequestError, TooLargeError, QueryTimeoutError.
        """
        form = RdfFormat.N_TRIPLES
        require_form(content, form, self._limits.depth)
        try:
            for number, quad in enumerate(parse(content, form, rename_blank_nodes=True)):
                if number >= most:
                    raise TooLargeError(
                        f"more than {most} triples", "send them in several requests"
                    )
                if not number % _LOOK and not is_wanted():
                    raise QueryTimeoutError(self._limits.seconds)
                yield quad
        except (SyntaxError, ValueError) as error:
            raise BadRequestError(f"the body is no N-Triples: {error}", "correct it") from error
