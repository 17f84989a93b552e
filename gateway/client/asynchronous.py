"""Agents for asyncio: client, producer, consumer, aggregator.

Place: what an application uses, over the entries of a profile. A producer is linked to an update, a
consumer to a subscribe, an aggregator to a pair of them. Source: Roffia et al., "Dynamic Linked
Data: A SPARQL Event Processing Architecture", 2018, section 5.2.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias, TypedDict, Unpack, cast
from uuid import uuid4

from pyoxigraph import Triple

from gateway.client.connection import Connection
from gateway.client.errors import AgentError, ClosedError, UnknownEntryError
from gateway.client.messages import Wanted
from gateway.client.notification import Notification
from gateway.client.requests import (
    Answer,
    Due,
    HttpRequest,
    Outcome,
    accepting,
    answer,
    elements_request,
    entered,
    outcome,
    query_request,
    update_request,
)
from gateway.client.settings import Settings
from gateway.client.subscription import Subscription
from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term
from jsap.endpoints import is_socket
from jsap.forced_bindings import Value
from jsap.namespaces import expand
from jsap.profile import Profile, load_profile
from jsap.template import Template

Values = Mapping[str, Value | Term]
"""Forced bindings: values by variable, without `?`; what a notification has will do."""

Windows = Mapping[str, Mapping[str, object]]
"""Declarations by the IRIs of windows, as JSON has them: `{"urn:w": {"stream": …, "range": …}}`."""


class Over(TypedDict, total=False):
    """What stands in place of the profile's members of a query that is subscribed.

    `windows` and `output` are those of docs/windows.md, `mode` and `after` those of docs/events.md:
    with "event" each event is told alone, with positions by gateway all after these. `gateways`,
    ids or "all", are those that the query is asked of together.
    """

    windows: Windows | None
    output: str | None
    mode: str | None
    after: Mapping[str, str] | None
    gateways: Sequence[str] | str | None


Source = Profile | Path | str
"""A profile, or where its file is."""

React: TypeAlias = "Callable[[Notification], Awaitable[Iterable[Values]]]"


class AsyncClient:
    """Every update, query and subscription of a profile; an async context manager.

    Raises OSError and JsapError for a profile that cannot be used.
    """

    def __init__(self, profile: Source, settings: Settings | None = None) -> None:
        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self.settings = settings or Settings()
        self._connection: Connection | None = None

    async def __aenter__(self) -> Self:
        self._connection = Connection(self.settings, self.profile.oauth)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, self._connection = self._open, None
        await connection.close()

    @property
    def _open(self) -> Connection:
        if self._connection is None:
            raise ClosedError("the client")
        return self._connection

    async def update(
        self, update_id: str, values: Values | None = None, due: Due = None
    ) -> Outcome:
        """Send an UPDATE; done when it returns. `due` delays it, in place of the profile's own.

        Raises BindingError for a value that does not fit, AgentError for everything else.
        """
        template = self.update_template(update_id)
        return await self._send_update(template, _bound(template, values), due)

    async def update_all(self, update_id: str, rows: Sequence[Values], due: Due = None) -> Outcome:
        """Send one UPDATE for several rows of values; no row, no request."""
        template = self.update_template(update_id)
        if not rows:
            return Outcome(204)
        return await self._send_update(template, template.render_rows(_terms(rows)), due)

    async def query(self, query_id: str, values: Values | None = None) -> Answer:
        """Solutions of a SELECT, the truth of an ASK, triples of a CONSTRUCT or DESCRIBE."""
        request = self._query_request(query_id, values)
        response = await self._open.send(request)
        media_type = response.headers.get("content-type", "")
        return answer(request.url, media_type, response.content)

    async def query_text(
        self, query_id: str, values: Values | None = None, accept: str | None = None
    ) -> str:
        """The answer as text, in a format (CSV, …) or media type; by default the profile's."""
        wanted = accept or self.profile.endpoints.query(query_id).format
        request = accepting(self._query_request(query_id, values), wanted)
        return (await self._open.send(request)).text

    def subscribe(
        self, query_id: str, values: Values | None = None, **over: Unpack[Over]
    ) -> "AsyncConsumer":
        """A consumer of this client; open it with `async with`."""
        return AsyncConsumer(self, query_id, values, **over)

    async def push(
        self,
        stream: str,
        triples: Iterable[Triple],
        time: datetime | None = None,
        *,
        by_line: bool = False,
    ) -> Mapping[str, Any]:
        """Let an element enter a stream of the gateway, or each triple as one; what entered.

        The stream is an IRI, or a name with a prefix of the profile, `time` when it happened. Sent
        to where updates of the profile go. Raises AgentError.
        """
        where = self.profile.endpoints.update("")
        iri = expand(stream, self.profile.namespaces)
        request = elements_request(where, iri, triples, time, by_line=by_line)
        response = await self._open.send(request)
        return entered(request.url, response.content)

    def subscription(
        self, query_id: str, values: Values | None, over: Mapping[str, object]
    ) -> Subscription:
        """What a consumer receives from; nothing is sent yet. `over` replaces the profile's."""
        template = self._entry("query", self.profile.queries, query_id)
        endpoint = self.profile.endpoints.subscribe(query_id)
        if not is_socket(endpoint):
            reason = f"{query_id} is subscribed over {endpoint.protocol}"
            raise AgentError(reason, "this client speaks ws and wss; name one of them")
        text, alias = _bound(template, values), f"agent-{uuid4()}"
        known = {**template.over, **over}
        wanted = Wanted(text, alias, template.graphs, template.infer, known)
        return Subscription(self._open, endpoint, wanted)

    def update_template(self, update_id: str) -> Template:
        """An update of the profile. Raises UnknownEntryError."""
        return self._entry("update", self.profile.updates, update_id)

    async def _send_update(self, template: Template, text: str, due: Due) -> Outcome:
        endpoint = self.profile.endpoints.update(template.id)
        waiting = due or template.due
        request = update_request(endpoint, text, template.graphs, waiting, template.infer)
        response = await self._open.send(request)
        return outcome(response.status_code, response.content)

    def _query_request(self, query_id: str, values: Values | None) -> HttpRequest:
        template = self._entry("query", self.profile.queries, query_id)
        text = _bound(template, values)
        endpoint = self.profile.endpoints.query(query_id)
        return query_request(endpoint, text, template.graphs, template.infer, template.over)

    def _entry(self, kind: str, entries: Mapping[str, Template], entry_id: str) -> Template:
        try:
            return entries[entry_id]
        except KeyError:
            raise UnknownEntryError(kind, entry_id, ", ".join(sorted(entries))) from None


def _terms(rows: Sequence[Values]) -> Sequence[Mapping[str, Value]]:
    """The same: a triple, the one term that no variable can be bound to, is refused by `bind`."""
    return cast(Sequence[Mapping[str, Value]], rows)


def _bound(template: Template, values: Values | None) -> str:
    return template.render(template.bind(_terms([values or {}])[0]))


class _Agent:
    """Something that uses a client: its own, which it opens and closes, or one that is given."""

    def __init__(self, client: AsyncClient | Source, settings: Settings | None) -> None:
        self._owned = not isinstance(client, AsyncClient)
        self.client = client if isinstance(client, AsyncClient) else AsyncClient(client, settings)

    async def __aenter__(self) -> Self:
        if self._owned:
            await self.client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._owned:
            await self.client.__aexit__(kind, error, trace)


class AsyncProducer(_Agent):
    """One update of a profile."""

    def __init__(
        self, client: AsyncClient | Source, update_id: str, settings: Settings | None = None
    ) -> None:
        super().__init__(client, settings)
        self.update_id = update_id
        self.client.update_template(update_id)

    async def update(self, values: Values | None = None, due: Due = None) -> Outcome:
        """Send the UPDATE with these values; done when it returns, `due` delays it."""
        return await self.client.update(self.update_id, values, due)

    async def update_all(self, rows: Sequence[Values], due: Due = None) -> Outcome:
        """Send one UPDATE for several rows of values; no row, no request."""
        return await self.client.update_all(self.update_id, rows, due)


class AsyncConsumer(_Agent):
    """One query of a profile, subscribed: an async iterator of notifications.

    Subscribed and answered when `async with` begins: what is wrong is raised there. A connection
    that is lost is made again, and every notification is still an exact step.
    """

    def __init__(
        self,
        client: AsyncClient | Source,
        query_id: str,
        values: Values | None = None,
        settings: Settings | None = None,
        **over: Unpack[Over],
    ) -> None:
        """`over` is as for `AsyncClient.subscribe`."""
        super().__init__(client, settings)
        self.query_id = query_id
        self._values = values
        self._over = {name: value for name, value in over.items() if value is not None}
        self._first: Notification | None = None
        self._subscription: Subscription | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            self._subscription = self.client.subscription(self.query_id, self._values, self._over)
            self._first = await self._subscription.receive()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            subscription, self._subscription = self._subscription, None
            if subscription is not None:
                await subscription.close()
        finally:
            await super().__aexit__(kind, error, trace)

    @property
    def solutions(self) -> list[Solution]:
        """The answer as far as it was received."""
        return self._opened.solutions

    async def receive(self) -> Notification:
        """The next notification, the first with the whole answer. May be cancelled."""
        subscription = self._opened
        first, self._first = self._first, None
        return first or await subscription.receive()

    async def __aiter__(self) -> AsyncIterator[Notification]:
        while True:
            yield await self.receive()

    @property
    def _opened(self) -> Subscription:
        if self._subscription is None:
            raise ClosedError(f"the consumer of {self.query_id}")
        return self._subscription


class AsyncAggregator(AsyncConsumer):
    """A subscription and an update of a profile, linked by what the application makes of them."""

    def __init__(
        self,
        client: AsyncClient | Source,
        query_id: str,
        update_id: str,
        values: Values | None = None,
        settings: Settings | None = None,
        **over: Unpack[Over],
    ) -> None:
        """`over` is as of a consumer."""
        super().__init__(client, query_id, values, settings, **over)
        self.update_id = update_id
        self.client.update_template(update_id)

    async def update(self, values: Values | None = None, due: Due = None) -> Outcome:
        """Send the UPDATE with these values; done when it returns, `due` delays it."""
        return await self.client.update(self.update_id, values, due)

    async def run(self, react: React) -> None:
        """Send the update for each row of values that `react` makes of a notification, for ever.

        Ends by what `react`, the broker or a cancellation raises.
        """
        async for notification in self:
            for values in await react(notification):
                await self.update(values)
