"""The SensorThings API put together, as the configuration says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.routing import Route

from gateway.app.serving.limits import request_limits
from gateway.app.stages import Stages
from gateway.app.storage import Storage
from gateway.config.settings import Config, is_loopback
from gateway.exchange.sensorthings.entities import stamp_of
from gateway.gates.admin.broker import own_address
from gateway.gates.sensorthings.gate import PATH, SensorThingsGate, Told
from gateway.gates.sensorthings.indexing import Indexing
from gateway.gates.sensorthings.measures import Counted
from gateway.gates.sensorthings.reading import JournalFolder
from gateway.gates.sensorthings.telling import Telling
from gateway.gates.sensorthings.writing import Writing
from gateway.gates.sparql.query_pool import QueryPool
from gateway.ingest.sosa import Identity
from gateway.journal.reading import first_time
from gateway.journal.record import micros
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.security.guard import Guard


def observations_of(identity: Identity) -> str:
    """What the IRIs of the gateway's observations begin with."""
    return f"{identity.base_iri}{identity.gateway}/observation/"


def telling_of(config: Config, storage: Storage, loop_calls: LoopCalls) -> Telling:
    """What tells Observations by MQTT; no topic is its own where the settings have it silent."""
    prefix = config.sensorthings.mqtt_prefix if _tells(config) else None
    return Telling(prefix, observations_of(storage.identity), loop_calls, Counted())


def indexing_of(storage: Storage) -> Indexing:
    """What keeps the entities of the graph at hand."""
    return Indexing(storage.scheduler, observations_of(storage.identity))


@asynccontextmanager
async def sensorthings_served(
    config: Config, stages: Stages, pool: QueryPool, guard: Guard, clocks: Clocks
) -> AsyncIterator[list[Route]]:
    """The endpoints, as long as their index may be kept; none where the settings say so."""
    storage, settings = stages.storage, config.sensorthings
    if not settings.enabled:
        yield []
        return
    indexing = stages.indexing
    writing = Writing(
        storage.scheduler,
        stages.onboarding,
        stages.reception,
        storage.identity,
        clocks,
        config.limits.payload_bytes,
    )
    folder = storage.journal.folder

    def back() -> str | None:
        first = first_time(folder)
        return None if first is None else stamp_of(micros(first))

    told = Told(lambda: _endpoints(config, stages), settings.mqtt_prefix, back)
    gate = SensorThingsGate(
        indexing,
        pool,
        JournalFolder(folder, storage.journal.manifest.last_times),
        writing,
        told,
        guard=guard,
        limits=request_limits(config),
        counted=stages.told.counted,
    )
    async with indexing.running():
        yield gate.routes()


def begin_telling(config: Config, stages: Stages, http_port: int) -> None:
    """Tell Observations by MQTT from now on, where the settings say so."""
    if not _tells(config):
        return
    host = "localhost" if is_loopback(config.http.host) else own_address() or config.http.host
    scheme = "http" if config.tls.mode == "off" else "https"
    root = f"{scheme}://{host}:{http_port}{PATH}"
    stages.told.begin(stages.broker, root)
    stages.reception.ingest.on_records(stored=stages.told.stored)


def _tells(config: Config) -> bool:
    settings = config.sensorthings
    if not settings.enabled or settings.tell == "never":
        return False
    return settings.tell == "always" or config.mqtt.mode == "embedded"


def _endpoints(config: Config, stages: Stages) -> list[str]:
    """The brokers on which Observations are told."""
    if not _tells(config):
        return []
    host = "localhost" if is_loopback(config.mqtt.host) else own_address() or config.mqtt.host
    is_plain = config.tls.mode == "off" if config.mqtt.mode == "embedded" else not config.mqtt.tls
    return [f"{'mqtt' if is_plain else 'mqtts'}://{host}:{stages.broker.port}"]
