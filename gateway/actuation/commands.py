"""`Commands`: how a gate asks for an actuation, by the template REQUEST_ACTUATION.

Place on the way of the data: behind HTTP and MQTT, before the scheduler; SPARQL and JSAP clients
send the same UPDATE themselves.
"""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from pyoxigraph import Literal

from adapters.values.fault import Fault
from adapters.values.result import string_result
from gateway.actuation.actuator import Actuator
from gateway.actuation.consumer import Consumer, Updating
from gateway.actuation.templates import ActuationTemplates
from gateway.errors import BadRequestError
from gateway.ingest.sosa import Identity
from gateway.store.update import BoundUpdate

LONGEST_WAIT_S = 300.0


class Commands:
    """Requests actuations; for the event loop."""

    def __init__(
        self,
        scheduler: Updating,
        templates: ActuationTemplates,
        consumer: Consumer,
        identity: Identity,
    ) -> None:
        self._scheduler = scheduler
        self.templates = templates
        self._consumer = consumer
        self._identity = identity

    async def request(self, actuator: Actuator, value: Literal, mark: str = "") -> str:
        """Returns the IRI of the actuation when the store has it. `mark` becomes part of it.

        Raises a GatewayError.
        """
        iri = self._identity.actuation_iri(f"{mark}{uuid4().hex}")
        await self._scheduler.update_own(self._bound(iri, actuator, value))
        return iri

    async def request_and_wait(self, actuator: Actuator, value: Literal, wait_s: float) -> str:
        """As `request`, and returns when the actuation has ended, or when the time is over."""
        iri = self._identity.actuation_iri(uuid4().hex)
        ending = self._consumer.ending(iri)
        try:
            await self._scheduler.update_own(self._bound(iri, actuator, value))
            async with asyncio.timeout(min(wait_s, LONGEST_WAIT_S)):
                await ending.wait()
        except TimeoutError:
            pass
        finally:
            self._consumer.forget(iri)
        return iri

    def _bound(self, iri: str, actuator: Actuator, value: Literal) -> Sequence[BoundUpdate]:
        fault = string_result(value.value)
        if isinstance(fault, Fault):
            raise BadRequestError(f"the value cannot be stored: {fault.detail}", "correct it")
        return [self.templates.request(iri, actuator.iri, value)]
