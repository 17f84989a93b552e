"""`Federated`: SUBSCRIBEs over several gateways, beside those over this one.

Place: between the subscribers and the scheduler. What names gateways goes to the federation, where
there is one; its spuids are told apart from those of the engine.
"""

from collections.abc import Callable
from dataclasses import replace

from gateway.engine import Notification, SubscribeRequest
from gateway.errors import GatewayError
from gateway.federation.asking.plain import no_federation, require_plain, scope_of
from gateway.federation.service import FederationService
from gateway.scheduler.subscriptions import Subscriptions


class Federated:
    """As Subscriptions; for the event loop. `federation` is None where there is none."""

    def __init__(self, here: Subscriptions, federation: FederationService | None) -> None:
        self._here = here
        self._federation = federation
        self._spuids: set[str] = set()

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        """As Subscriptions. Raises BadRequestError for what cannot be asked of others."""
        if query.gateways is None:
            return await self._here.subscribe(query, sink=sink, ended=ended)
        federation = self._federation
        if federation is None:
            raise no_federation()
        require_plain(query)
        scope = scope_of(query)
        federation.require_known(scope)
        spuid = await federation.subscribe(replace(query, gateways=None), sink, scope, ended)
        self._spuids.add(spuid)
        return spuid

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription."""
        if spuid in self._spuids and self._federation is not None:
            self._spuids.discard(spuid)
            await self._federation.unsubscribe(spuid)
        else:
            await self._here.unsubscribe(spuid)
