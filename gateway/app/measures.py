"""What the parts count, put together: a summary for people, measures for Prometheus."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial

from gateway.actuation.actuating import Actuating
from gateway.actuation.rules import Republisher
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.admin.profile_reload import ProfileReload
from gateway.app.discovery_measures import discovery_measures
from gateway.app.journal_measures import journal_measures
from gateway.engine import Engine
from gateway.engine.workers.workers import WorkersStatistics
from gateway.gates.http.operations import Load
from gateway.gates.http.request_load import RequestStatistics
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher
from gateway.gates.mqtt.external.broker import ExternalBroker
from gateway.gates.sparql.query_pool import QueryPool, QueryStatistics
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberStatistics
from gateway.ingest.inbox import Inbox
from gateway.ingest.ingest import Ingest
from gateway.journal import Journal
from gateway.runtime.metrics import Histogram, Measure
from gateway.scheduler.scheduler import Scheduler
from gateway.shipping import Shipper


@dataclass(slots=True)
class Parts:
    """The parts of a gateway that count something; the gates come last in its life."""

    engine: Engine
    scheduler: Scheduler
    journal: Journal
    inbox: Inbox
    ingest: Ingest
    shipper: Shipper | None = None
    onboarding: Onboarding | None = None
    republisher: Republisher | None = None
    profiles: ProfileReload | None = None
    actuating: Actuating | None = None
    embedded: EmbeddedBroker | None = None
    external: ExternalBroker | None = None
    publisher: EmbeddedPublisher | ExternalBroker | None = None
    subscribers: Subscribers | None = None
    queries: QueryPool | None = None
    load: Load = field(default_factory=Load)


def summary(parts: Parts) -> Mapping[str, int]:
    """The way of the data in counters: messages in, triples, notifications and commands out."""
    engine, ingest = parts.engine.statistics, parts.ingest.statistics
    return {
        "readings_in": ingest.messages,
        "observations": ingest.observations,
        "updates": engine.updates,
        "added": engine.quads_added,
        "removed": engine.quads_removed,
        "notifications": engine.notifications + parts.engine.delivery.late,
        "subscriptions": engine.subscriptions,
        "commands_out": parts.republisher.published if parts.republisher else 0,
        "quarantined": ingest.quarantined,
        "duplicates": ingest.duplicates,
        "late": parts.ingest.present.late,
        "unmapped": ingest.unmapped,
        "failed": ingest.failed + engine.failures + _beside(parts.engine).failures,
    }


def alarms(parts: Parts) -> list[str]:
    """What keeps the gateway from its work, for /health."""
    return [text for text in (parts.journal.alarm,) if text]


def measures(parts: Parts) -> tuple[Measure, ...]:
    """Every metric of the gateway (README, "Metrics")."""
    return (
        *_ingest(parts),
        *_absences(parts),
        *_quarantine(parts),
        *journal_measures(parts.journal, parts.shipper),
        *discovery_measures(parts.onboarding),
        *_engine(parts),
        *performance_measures(parts.engine),
        *_workers(parts.engine),
        *_gates(parts),
    )


def _ingest(parts: Parts) -> tuple[Measure, ...]:
    seen = parts.ingest.statistics
    return (
        Measure("messages", "MQTT messages taken from the inbox", lambda: seen.messages),
        Measure("messages_unmapped", "messages that no mapping knows", lambda: seen.unmapped),
        Measure("messages_quarantined", "messages with a fault", lambda: seen.quarantined),
        Measure("observations", "observations accepted and journalled", lambda: seen.observations),
        Measure("observations_duplicate", "observations known before", lambda: seen.duplicates),
        Measure(
            "observations_late",
            "journalled, but older than those kept",
            lambda: parts.ingest.present.late,
        ),
        Measure(
            "observations_clock_suspect", "device time in the future", lambda: seen.clock_suspect
        ),
        Measure("observations_failed", "the UPDATE of the profile failed", lambda: seen.failed),
        Measure("observations_replayed", "brought from journal to store", lambda: seen.replayed),
        Measure("heartbeats", "signs of life without a new observation", lambda: seen.heartbeats),
        Measure(
            "retained_passed_over",
            "retained results of streams of which more is known",
            lambda: seen.seeds_dropped,
        ),
        Measure(
            "unit_changes",
            "streams that went over to another unit",
            lambda: parts.ingest.present.unit_changes,
        ),
        Measure("inbox", "messages waiting for ingest", lambda: len(parts.inbox), is_counter=False),
        Measure(
            "raw_messages",
            "messages kept as they came",
            lambda: len(parts.ingest.raw),
            is_counter=False,
        ),
    )


def _absences(parts: Parts) -> tuple[Measure, ...]:
    seen = parts.ingest.absences
    return (
        Measure(
            "streams_absent",
            "streams that are silent or offline",
            lambda: seen.absent,
            is_counter=False,
        ),
        Measure("absences_raised", "streams fell silent", lambda: seen.raised),
        Measure("absences_cleared", "came back", lambda: seen.cleared),
    )


def _quarantine(parts: Parts) -> tuple[Measure, ...]:
    kept = parts.ingest.quarantine
    return (
        Measure(
            "quarantine",
            "faults by reason",
            lambda: kept.reasons,
            label="reason",
        ),
        Measure(
            "quarantine_kept",
            "messages in quarantine now",
            lambda: len(kept),
            is_counter=False,
        ),
        Measure(
            "quarantine_bytes",
            "of their lines",
            lambda: kept.size_bytes,
            is_counter=False,
        ),
        Measure(
            "quarantine_file_behind",
            "1 while the disk does not take quarantine.jsonl",
            lambda: bool(kept.alarm),
            is_counter=False,
        ),
    )


def _engine(parts: Parts) -> tuple[Measure, ...]:
    engine, beside = parts.engine.statistics, _beside(parts.engine)
    return (
        Measure("updates", "UPDATE requests executed", lambda: engine.updates),
        Measure("quads_added", "quads added, net", lambda: engine.quads_added),
        Measure("quads_removed", "quads removed, net", lambda: engine.quads_removed),
        Measure(
            "lutt_hits", "SPUs that an UPDATE reached", lambda: engine.lutt_hits + beside.lutt_hits
        ),
        Measure(
            "lutt_misses",
            "SPUs that an UPDATE did not reach",
            lambda: engine.lutt_misses + beside.seen - beside.lutt_hits,
        ),
        Measure(
            "notifications",
            "notifications made",
            lambda: engine.notifications + parts.engine.delivery.late,
        ),
        Measure(
            "delayed",
            "delayed UPDATEs that wait",
            lambda: parts.engine.waiting_delayed,
            is_counter=False,
        ),
        Measure("delayed_executed", "delayed UPDATEs taken", lambda: engine.delayed_executed),
        Measure("delayed_late", "due while the gateway was down", lambda: engine.delayed_late),
        Measure("delayed_failed", "delayed UPDATEs that failed", lambda: engine.delayed_failed),
        Measure(
            "spu_failures",
            "evaluations of an SPU that failed",
            lambda: engine.failures + beside.failures,
        ),
        Measure(
            "subscriptions", "subscriptions now", lambda: engine.subscriptions, is_counter=False
        ),
        Measure("spus", "SPUs by tier", lambda: engine.spus, is_counter=False, label="tier"),
        Measure(
            "urq", "UPDATEs waiting", lambda: parts.scheduler.waiting_updates, is_counter=False
        ),
    )


def _beside(engine: Engine) -> WorkersStatistics:
    """What the workers count."""
    return WorkersStatistics() if engine.workers is None else engine.workers.statistics


def _workers(engine: Engine) -> tuple[Measure, ...]:
    workers = engine.workers
    if workers is None:
        return ()
    seen = workers.statistics
    return (
        Measure("workers", "worker processes up", lambda: workers.alive, is_counter=False),
        Measure("worker_restarts", "workers that died and were replaced", lambda: workers.restarts),
        Measure("worker_spus", "SPUs in workers", lambda: seen.spus, is_counter=False),
        Measure(
            "worker_outstanding",
            "requests that workers have not done",
            lambda: workers.outstanding,
            is_counter=False,
        ),
        Measure("spus_given_up", "SPUs that ended their worker too often", lambda: seen.given_up),
    )


def performance_measures(engine: Engine) -> tuple[Measure, ...]:
    """The engine's performance model, where its option is on."""
    performance, seen = engine.performance, engine.statistics
    if performance is None:
        return ()
    return (
        Measure("updates_timed", "UPDATE requests timed", lambda: performance.updates),
        Measure(
            "update_seconds",
            "time of UPDATEs by component",
            lambda: {name: ns / 1e9 for name, ns in asdict(performance.totals).items()},
            label="component",
        ),
        Measure(
            "kpi",
            "performance indicators of the engine",
            lambda: asdict(performance.kpi(seen.subscriptions)),
            is_counter=False,
            label="indicator",
        ),
        Measure(
            "lutt_hit_rate",
            "part of pairs of UPDATE and SPU let through",
            lambda: performance.lutt_hit_rate,
            is_counter=False,
        ),
    )


def _profiles(profiles: ProfileReload) -> Iterator[Measure]:
    yield Measure(
        "profile_reloads",
        "readings of the JSAP files by outcome",
        lambda: profiles.outcomes,
        label="outcome",
    )
    yield Measure(
        "profiles_refused",
        "1 while the JSAP files are not those in force",
        lambda: bool(profiles.error),
        is_counter=False,
    )


def _gates(parts: Parts) -> Iterator[Measure]:
    yield from _commands(parts)
    if parts.profiles is not None:
        yield from _profiles(parts.profiles)
    if parts.embedded is not None:
        yield from _embedded(parts.embedded)
    if parts.external is not None:
        yield from _external(parts.external)
    if parts.subscribers is not None:
        yield from _subscribers(parts.subscribers)
    if parts.queries is not None:
        yield from _queries(parts.queries.statistics)
    yield from _requests(parts.load.statistics)


def histograms(parts: Parts) -> tuple[Histogram, ...]:
    """Every metric of times."""
    seen = parts.load.statistics
    return (
        Histogram(
            "http_request_seconds",
            "from a request to the beginning of its answer, by first segment of its path",
            "path",
            lambda: seen.times,
        ),
    )


def _requests(seen: RequestStatistics) -> Iterator[Measure]:
    yield Measure("http_responses", "HTTP answers by status", lambda: seen.statuses, label="status")
    yield Measure("http_requests_refused", "beyond the limits", lambda: seen.refused)
    yield Measure(
        "http_requests_under_way", "not yet answered", lambda: seen.under_way, is_counter=False
    )


def _commands(parts: Parts) -> Iterator[Measure]:
    republisher, publisher = parts.republisher, parts.publisher
    if republisher is not None:
        yield Measure("commands", "messages published by rules", lambda: republisher.published)
        yield Measure("commands_failed", "rows a rule could not fill", lambda: republisher.failed)
    if parts.actuating is not None:
        yield from _actuations(parts.actuating)
    if publisher is not None:
        yield Measure("commands_dropped", "commands beyond the queue", lambda: publisher.dropped)


def _actuations(actuating: Actuating) -> Iterator[Measure]:
    consumer, actuators = actuating.consumer, actuating.actuators
    yield Measure(
        "actuations",
        "actuations by what became of them",
        lambda: asdict(consumer.statistics),
        label="outcome",
    )
    yield Measure(
        "actuations_pending",
        "sent, neither confirmed nor failed",
        lambda: len(consumer.orders.pending),
        is_counter=False,
    )
    yield Measure(
        "actuators", "that can be told something", lambda: len(actuators.by_iri), is_counter=False
    )
    yield Measure(
        "actuators_refused", "that are wrong", lambda: len(actuators.errors), is_counter=False
    )


def _embedded(broker: EmbeddedBroker) -> Iterator[Measure]:
    yield Measure(
        "broker_messages",
        "PUBLISH packets of the embedded broker",
        lambda: {
            name: getattr(broker.statistics, name)
            for name in ("received", "delivered", "dropped", "denied", "failed")
        },
        label="outcome",
    )


def _external(broker: ExternalBroker) -> Iterator[Measure]:
    yield Measure("echoes", "our own messages, not ingested", lambda: broker.echoes)
    yield Measure("copies", "of one message, under several topic filters", lambda: broker.copies)
    yield Measure("broker_connections", "connections made so far", lambda: broker.connections)
    yield Measure(
        "broker_connected", "1 while connected", lambda: broker.is_connected, is_counter=False
    )


def _subscribers(subscribers: Subscribers) -> Iterator[Measure]:
    seen = subscribers.statistics
    for transport, name, what in (
        ("websocket", "sockets", "WebSockets open"),
        ("events", "event_streams", "streams of server-sent events open"),
        ("mqtt", "mqtt_subscribers", "MQTT clients that subscribe"),
    ):
        yield Measure(name, what, partial(_now, seen, transport), is_counter=False)
    yield Measure(
        "subscriptions_away", "whose client was lost", lambda: seen.away, is_counter=False
    )
    yield Measure("subscriptions_resumed", "gone on with", lambda: seen.resumed)
    yield Measure("subscriptions_ended", "ended from our side", lambda: seen.ended)
    yield Measure("subscriber_messages", "messages sent to subscribers", lambda: seen.messages)
    yield Measure("subscriber_merged", "notifications merged", lambda: seen.merged)
    yield Measure("subscriber_errors", "requests answered with an error", lambda: seen.errors)
    yield Measure("subscriber_overflows", "closed, too slow a reader", lambda: seen.overflows)
    yield Measure("subscriber_stalls", "given up, no reader at all", lambda: seen.stalls)


def _now(seen: SubscriberStatistics, transport: str) -> int:
    return seen.connections[transport]


def _queries(seen: QueryStatistics) -> Iterator[Measure]:
    yield Measure("queries", "QUERYs answered", lambda: seen.answered)
    yield Measure("queries_refused", "QUERYs beyond the limit", lambda: seen.refused)
    yield Measure("queries_timed_out", "QUERYs past their time", lambda: seen.timed_out)
    yield Measure("queries_abandoned", "QUERYs whose client left", lambda: seen.abandoned)
    yield Measure(
        "queries_waiting", "QUERYs not yet answered", lambda: seen.waiting, is_counter=False
    )
