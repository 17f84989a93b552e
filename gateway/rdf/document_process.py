"""The process in which documents from outside are parsed: bytes of any format in, N-Triples out.

Place: at the other end of `documents`. Imports no more than the parser.
"""

from io import BytesIO
from itertools import islice
from typing import NamedTuple

from pyoxigraph import RdfFormat, Triple, parse, serialize

from gateway.errors import BadRequestError, TooLargeError
from gateway.runtime.confinement import serve


class ParseRequest(NamedTuple):
    """A document, its media type, what relative IRIs are resolved against, and its bounds.

    `most` are its triples, `most_bytes` what they may be, written out.
    """

    content: bytes
    media_type: str
    base: str
    most: int
    most_bytes: int


class _Written(BytesIO):
    """Refuses to grow beyond a size."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._most = most_bytes

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # pyoxigraph writes bytes
        """Raises TooLargeError."""
        if self.tell() + len(data) > self._most:
            raise TooLargeError(
                f"the triples of the document take more than {self._most} bytes",
                "use shorter prefixes, or send it in parts",
            )
        return super().write(data)


def main(memory_bytes: int) -> None:
    """Parse until nobody asks any more."""
    serve(parsed, memory_bytes)


def parsed(request: ParseRequest) -> bytes:
    """The triples, blank nodes fresh. Raises BadRequestError, TooLargeError."""
    form = RdfFormat.from_media_type(request.media_type)
    assert form is not None  # noqa: S101  # the gateway knows the format
    try:
        quads = parse(
            request.content,
            form,
            base_iri=request.base or None,
            without_named_graphs=True,
            rename_blank_nodes=True,
        )
        written = _Written(request.most_bytes)
        triples = (Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
        serialize(islice(triples, request.most), written, RdfFormat.N_TRIPLES)
        if next(quads, None) is not None:
            raise TooLargeError(
                f"more than {request.most} triples", "send them in several documents"
            )
    except (SyntaxError, ValueError) as error:
        raise BadRequestError(
            f"the document is not {form.name}: {error}", "correct it, or its Content-Type"
        ) from error
    return written.getvalue()
