"""GET of a SensorThings resource: from its URL to its bytes, in a thread of the pool.

Place: between the gate, which knows HTTP, and `gateway.exchange.sensorthings`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gateway.errors import BadRequestError, NotFoundError, QueryTimeoutError, StorageError
from gateway.exchange.sensorthings import encoding
from gateway.exchange.sensorthings.answering import (
    Answering,
    Target,
    next_link,
    require_known,
)
from gateway.exchange.sensorthings.entities import Document, Entities, json_text, selected
from gateway.exchange.sensorthings.index import Index, Key
from gateway.exchange.sensorthings.model import ID, SELF_LINK, Set
from gateway.exchange.sensorthings.past import Past, seen_in
from gateway.exchange.sensorthings.url.bounds import wrong
from gateway.exchange.sensorthings.url.syntax import NO_OPTIONS, Options, ResourcePath
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.sensorthings.asking import Asking
from gateway.gates.sparql.query_pool import QueryPool
from gateway.journal.history import LastTimes, Stretch, Window, stretch
from gateway.journal.reading import record_at
from gateway.journal.record import Position
from gateway.rdf.rights import Rights

_PARSED = 8
"""JSON that is parsed again takes so many times the memory of its text."""


@dataclass(frozen=True, slots=True)
class JournalFolder:
    """Where history is: the journal's folder, and when its sealed segments ended."""

    folder: Path
    last_times: Callable[[], LastTimes]


@dataclass(frozen=True, slots=True)
class Service:
    """What answers: the index of now, the store by its pool, the journal."""

    index: Index
    pool: QueryPool
    journal: JournalFolder


def answer(
    service: Service,
    asked: tuple[ResourcePath, Options],
    rights: Rights,
    root: str,
    body: BoundedBody,
) -> Answer:
    """A resource at `root`, in whatever thread has `body`. Raises a GatewayError."""
    path, options = asked
    if path.is_refs:
        options = replace(options, select=(SELF_LINK,), expand=())
    entities = Entities(service.index, root)
    asking = Asking(service.pool, rights, body)
    weight = _PARSED if options.result_format == "GeoJSON" else 1
    check = partial(look, service.pool, body, weight)
    answering = Answering(service.index, entities, asking.of_store, check)
    try:
        target = answering.target(path)
    except NotFoundError:
        found = _past_entity(service, path, entities)
        if found is None:
            raise
        return Answer(encoding.JSON, encoding.encoded(selected(found, options.select)))
    encoding.require_format(target.set, options)
    telling = _Telling(service, entities, answering, options)
    if target.entity is not None:
        return telling.entity(target, path)
    if path.property:
        raise wrong("the path", f"{target.set.value} need an id before {path.property[:80]!r}")
    past = _past(service, target, options, asking, check)
    if past is not None and past.is_needed:
        return telling.history(target, past)
    return telling.collection(target, may_have_more=past is not None and past.may_have_more)


@dataclass(frozen=True, slots=True)
class _Telling:
    """Writes out what a target is."""

    service: Service
    entities: Entities
    answering: Answering
    options: Options

    def entity(self, target: Target, path: ResourcePath) -> Answer:
        """One entity, or a property of it."""
        assert target.entity is not None  # noqa: S101
        options = self.options
        if path.property:
            if options != NO_OPTIONS:
                raise wrong("the query string", "a property has no options")
            return self._property(target.set, target.entity, path)
        if replace(options, select=(), expand=(), result_format="") != NO_OPTIONS:
            raise wrong("the query string", "of one entity there is $select and $expand alone")
        text = self.answering.entity(target.set, target.entity, options)
        if options.result_format == "GeoJSON":
            feature = encoding.feature(self.entities, target.set, target.entity, text)
            return Answer(encoding.GEO_JSON, encoding.encoded(feature))
        return Answer(encoding.JSON, text.encode())

    def _property(self, of: Set, key: Key, path: ResourcePath) -> Answer:
        document = self.entities.document(of, key)
        name = ID if path.property == "id" else path.property
        if name not in document:
            raise NotFoundError(f"{of.value} have no {name[:80]!r}", "GET the entity shows all")
        value = document[name]
        if not path.is_value:
            return Answer(encoding.JSON, encoding.encoded({name: value}))
        text = value if isinstance(value, str) else encoding.encoded(value).decode()
        return Answer("text/plain; charset=utf-8", text.encode("utf-8", "backslashreplace"))

    def collection(self, target: Target, *, may_have_more: bool = False) -> Answer:
        """A page of what the store has; where the journal `may_have_more`, it leads there."""
        page, texts = self.answering.collection(target, self.options)
        has_more = page.has_more or may_have_more
        following = next_link(target.address, self.options) if has_more else None
        if self.options.result_format == "GeoJSON":
            told = zip(page.keys, texts, strict=True)
            features = encoding.features(self.entities, target.set, told, following)
            return Answer(encoding.GEO_JSON, encoding.encoded(features))
        if self.options.result_format == "dataArray":
            whole = [self._with_datastream(str(key)) for key in page.keys]
            texts = list(map(json_text, encoding.data_arrays(whole, self.options.select)))
        return Answer(encoding.JSON, encoding.collection(texts, page.total, following))

    def _with_datastream(self, observation: str) -> tuple[str, Document]:
        found = self.service.index.seen(observation)
        if found is None:
            return "", {}
        address = self.entities.address(Set.DATASTREAMS, found[0])
        return address, self.entities.observation(*found)

    def history(self, target: Target, past: Past) -> Answer:
        """A page of what store and journal have of a Datastream."""
        options = self.options
        require_known(target.set, options)
        if options.expand or options.result_format == "GeoJSON":
            raise BadRequestError(
                "what the journal has is told without $expand, and not as GeoJSON",
                "expand from the Datastream, which is told with the latest",
            )
        page = past.page()
        following = next_link(target.address, options) if page.has_more else None
        documents = [self.entities.observation(past.stream, seen) for seen in page.seen]
        if options.result_format == "dataArray":
            address = self.entities.address(Set.DATASTREAMS, past.stream)
            whole = [(address, each) for each in documents]
            documents = encoding.data_arrays(whole, options.select)
        else:
            documents = [selected(each, options.select) for each in documents]
        more = f'"@gateway.damaged":{json_text(list(page.damaged))}' if page.damaged else ""
        texts = map(json_text, documents)
        return Answer(encoding.JSON, encoding.collection(texts, page.total, following, more))


def _past_entity(service: Service, path: ResourcePath, entities: Entities) -> Document | None:
    """An Observation that the journal alone has; None for anything else."""
    segment = path.segments[0]
    is_plain = len(path.segments) == 1 and not (path.property or path.is_refs)
    if segment.name != Set.OBSERVATIONS.value or segment.id is None or not is_plain:
        return None
    if not re.fullmatch("[0-9]{1,12}-[0-9]{1,18}", segment.id, re.ASCII):
        return None
    record = record_at(service.journal.folder, Position.parse(segment.id))
    if record is None:
        return None
    seen = seen_in(record, service.index.observations)
    return entities.observation(record.observation.stream, seen)


def _past(
    service: Service,
    target: Target,
    options: Options,
    asking: Asking,
    check: Callable[[], None],
) -> Past | None:
    """What the journal is asked for behind a Datastream; None elsewhere."""
    key = target.behind
    if target.set is not Set.OBSERVATIONS or not isinstance(key, tuple):
        return None
    found, journal = service.index.stream(key), service.journal

    def read(window: Window, before: Position | None, most: int) -> Stretch:
        try:
            return stretch(
                journal.folder,
                key,
                window,
                before=before,
                most=most,
                last_times=journal.last_times(),
                look=check,
            )
        except OSError as error:
            raise StorageError(f"the journal cannot be read: {error}", "see the log") from error

    kept = found.seen if found else ()
    return Past(key, kept, options, service.index.observations, read, asking.of_quads)


def look(pool: QueryPool, body: BoundedBody, weight: int, characters: int = 0) -> None:
    """Raise TooLargeError, and QueryTimeoutError where the time is over, or nobody waits."""
    body.require_room(weight * characters)
    if not body.look():
        raise QueryTimeoutError(pool.time_s)
