"""`Stages`: the parts of a gateway when all are there, in the order of the way of the data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.admin.looking.log_tail import LogTail
from gateway.admin.onboarding.measures import discovery_measures
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.app.brokers.mqtt import BrokerLink
from gateway.app.control import Control
from gateway.app.reception import Reception
from gateway.app.storage import Storage
from gateway.app.subscribers import Subscribing
from gateway.exchange.homeassistant.measures import publisher_measures
from gateway.exchange.homeassistant.publisher import Publisher
from gateway.federation.service import FederationService
from gateway.federation.watching.measures import federation_measures
from gateway.gates.admin.keeping import KeepingGate
from gateway.gates.modbus.gate import ModbusGate
from gateway.gates.modbus.measures import modbus_measures
from gateway.gates.sensorthings.indexing import Indexing
from gateway.gates.sensorthings.measures import sensorthings_measures
from gateway.gates.sensorthings.telling import Telling
from gateway.gates.subscriptions.measures import subscriber_measures
from gateway.ingest.compound.events_kept import EventsKept
from gateway.ingest.labels import labels_of_streams
from gateway.runtime.measures import Measure


@dataclass(frozen=True, slots=True)
class Stages:
    """What keeps, what takes messages in, what learns of devices, what serves and commands."""

    storage: Storage
    reception: Reception
    onboarding: Onboarding
    subscribing: Subscribing
    broker: BrokerLink
    modbus: ModbusGate
    control: Control
    log: LogTail
    keeping: KeepingGate
    told: Telling
    indexing: Indexing
    events: EventsKept | None = None
    homeassistant: Publisher | None = None

    @property
    def federation(self) -> FederationService | None:
        """What answers over several gateways, where there is a federation."""
        found = self.subscribing.federation
        return None if found is None else found.service

    def keep_up(self) -> None:
        """Seal and ship from now on; segments tell what their things are called."""
        query, streams = self.storage.engine.query, self.reception.current_state.streams
        self.storage.journal.labels.source = lambda: labels_of_streams(query, streams())
        self.storage.keep_up()

    def summary(self) -> Mapping[str, int]:
        """The way of the data in counters: messages in, triples, notifications, commands out."""
        engine, ingest = self.storage.engine, self.reception.ingest.statistics
        seen, beside = engine.statistics, engine.workers_statistics
        return {
            "readings_in": ingest.messages,
            "observations": ingest.observations,
            "updates": seen.updates,
            "added": seen.quads_added,
            "removed": seen.quads_removed,
            "notifications": seen.notifications + engine.delivery.late,
            "subscriptions": seen.subscriptions,
            "commands_out": self.control.republisher.published,
            "quarantined": ingest.quarantined,
            "duplicates": ingest.duplicates,
            "late": self.reception.current_state.late,
            "unmapped": ingest.unmapped,
            "failed": ingest.failed + seen.failures + beside.failures,
        }

    def measures(self) -> Iterator[Measure]:
        """Every metric but those of HTTP."""
        for part in (self.reception, self.storage, self.control, self.broker):
            yield from part.measures()
        yield from modbus_measures(self.modbus)
        yield from discovery_measures(self.onboarding)
        yield from subscriber_measures(self.subscribing.subscribers)
        yield from sensorthings_measures(self.told.counted, lambda: self.indexing.is_kept)
        if self.events is not None:
            yield from self.events.measures()
        if self.homeassistant is not None:
            yield from publisher_measures(self.homeassistant)
        service = self.federation
        if service is not None:
            yield from federation_measures(lambda: service.status)
