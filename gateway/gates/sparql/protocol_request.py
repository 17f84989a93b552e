"""QUERY and UPDATE as requests of the SPARQL 1.1 Protocol (W3C, 2013, sections 2.1 and 2.2).

Place on the way of the data: from a request of the HTTP gate to the text of an operation with its
dataset. Relative IRIs are resolved against the endpoint (SPARQL 1.1 Protocol, 2.1.4 leaves the
base to the service): the text gets a BASE where it may need one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request

from gateway.engine.windowed.over import OverWindows, written_out
from gateway.errors import BadRequestError, UnsupportedMediaTypeError, WindowError
from gateway.gates.http.request_body import RequestLimits, media_type, read_body, utf_8
from gateway.gates.protocol.json_text import read_json
from gateway.gates.protocol.messages import graph_names
from gateway.rdf.dataset import Dataset

_FORM = "application/x-www-form-urlencoded"
_MOST_PARAMETERS = 1000
_RELATIVE_IRI = re.compile(r'<(?![A-Za-z][A-Za-z0-9+.-]*:)[^\x00-\x20<>"{}|^`\\]*>')
"""Also matches what only looks like one (`?a<?b&&?c>?d`), where a BASE does no harm."""

Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Names:
    """How the protocol calls the parts of an operation."""

    parameter: str
    media_type: str
    default_graph: str
    named_graph: str


QUERY = Names("query", "application/sparql-query", "default-graph-uri", "named-graph-uri")
UPDATE = Names("update", "application/sparql-update", "using-graph-uri", "using-named-graph-uri")


@dataclass(frozen=True, slots=True)
class Operation:
    """SPARQL text with the dataset that the protocol's parameters name, and all parameters."""

    names: Names
    text: str
    dataset: Dataset | None = None
    parameters: Parameters = ()

    def parameter(self, name: str) -> str | None:
        """The value of a parameter that may stand once. Raises BadRequestError for more."""
        values = [value for key, value in self.parameters if key == name]
        if len(values) > 1:
            raise BadRequestError(f"{len(values)} parameters {name!r}", "send one")
        return values[0] if values else None

    @property
    def infer(self) -> bool | None:
        """Whether it is about what follows too, None where it does not say.

        Raises BadRequestError for another word than true and false.
        """
        return inferring([value for key, value in self.parameters if key == "infer"])

    @property
    def over(self) -> OverWindows:
        """The windows beside its dataset and what is told of it.

        From the parameters `windows` and `after`, as JSON, `output`, `mode`, `absent` and
        `gateways`: all, or ids with commas. Raises BadRequestError, WindowError.
        """
        words = ("output", "mode", "absent")
        members: dict[str, object] = {name: self.parameter(name) for name in words}
        for name in ("windows", "after"):
            text = self.parameter(name)
            if text is not None:
                members[name] = _declared(name, text)
        gateways = self.parameter("gateways")
        if gateways is not None:
            members["gateways"] = gateways if gateways == "all" else gateways.split(",")
        return OverWindows.of(members, written_out)


def _declared(name: str, text: str) -> object:
    try:
        return read_json(text, float, _no_number)
    except (ValueError, ArithmeticError, RecursionError) as error:
        reason = f"is no JSON: {error}"
        raise WindowError(name, reason, "percent-encode one JSON object") from error


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def inferring(words: Sequence[str]) -> bool | None:
    """What parameters `infer` say, as `Operation.infer`. Raises BadRequestError."""
    if len(words) > 1 or not set(words) <= {"true", "false"}:
        said = "&".join(f"infer={word:.20}" for word in words[:3])
        raise BadRequestError(said, "send infer=true or infer=false, once")
    return words[0] == "true" if words else None


async def read_operation(
    request: Request, offered: Sequence[Names], limits: RequestLimits
) -> Operation:
    """The operation by GET, by POST with a form, or by POST directly (section 2.1 and 2.2).

    `offered` are those that the endpoint takes; an UPDATE comes by POST alone. The dataset may be
    named in the URL and in the form.
    """
    in_url = url_parameters(request)
    if request.method in {"GET", "HEAD"}:
        return _named_in(
            in_url, [names for names in offered if names is not UPDATE], in_url, request
        )
    body_type = media_type(request.headers.get("content-type", ""))
    direct = next((names for names in offered if names.media_type == body_type), None)
    if direct is None and body_type != _FORM:
        types = " or ".join([*(names.media_type for names in offered), _FORM])
        raise UnsupportedMediaTypeError(
            f"cannot read a body of type {body_type or 'unknown'}", f"use Content-Type {types}"
        )
    text = utf_8(await read_body(request, limits))
    if direct is not None:
        return _operation(direct, text, in_url, request)
    form = _parameters(text)
    return _named_in(form, offered, [*in_url, *form], request)


def url_parameters(request: Request) -> Parameters:
    """The parameters in the URL. Raises BadRequestError."""
    query: bytes = request.scope["query_string"]
    return _parameters(query.decode("latin-1")) if query else ()


def _named_in(
    parameters: Parameters, offered: Sequence[Names], every: Parameters, request: Request
) -> Operation:
    """The one operation among the parameters."""
    texts = {names.parameter: names for names in offered}
    found = [(texts[name], value) for name, value in parameters if name in texts]
    if len(found) != 1:
        wanted = " or ".join(f"{name}=<SPARQL text>" for name in texts)
        raise BadRequestError(
            f"{len(found)} parameters {' or '.join(map(repr, texts))} instead of one",
            f"send {wanted}" if QUERY in offered else f"send {wanted} by POST",
        )
    names, text = found[0]
    return _operation(names, text, every, request)


def _operation(names: Names, text: str, parameters: Parameters, request: Request) -> Operation:
    return Operation(
        names,
        _with_base(text, request),
        Dataset.chosen(
            graph_names(value for name, value in parameters if name == names.default_graph),
            graph_names(value for name, value in parameters if name == names.named_graph),
        ),
        parameters,
    )


def _with_base(text: str, request: Request) -> str:
    """In one line with the text, so that an error's line number stays right."""
    if not _RELATIVE_IRI.search(text):
        return text
    endpoint = str(request.url.replace(query=None))
    return f"BASE {graph_names([endpoint])[0]} {text}"


def _parameters(text: str) -> Parameters:
    try:
        return parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except ValueError as error:
        raise BadRequestError(
            f"the parameters cannot be read: {error}", "percent-encode them as UTF-8"
        ) from error
