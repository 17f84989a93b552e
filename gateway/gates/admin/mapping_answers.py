"""What the HTTP gate of mappings answers: values of `gateway.admin.onboarding` as JSON.

Place on the way of the data: behind that package, last step before the wire.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from pyoxigraph import DefaultGraph, Quad

from adapters.values.fault import Fault
from adapters.values.notice import DeviceRequest, Heartbeat, Liveness, Notice
from adapters.values.observation import Observation, TimeSource
from adapters.values.proposal import Proposal
from gateway.admin.onboarding.changes import MappingChange
from gateway.admin.onboarding.confirmation import defect
from gateway.admin.onboarding.nodes import described, nodes_of
from gateway.admin.onboarding.onboarding import Found
from gateway.admin.onboarding.proposals import LABEL, PROPOSED_AT, members_of, short_id
from gateway.admin.onboarding.trial import Trial
from gateway.admin.onboarding.unknown import Sample, UnknownTopic
from gateway.admin.onboarding.violations import Violation
from gateway.gates.admin.mapping_bodies import payload_members

JsonObject = dict[str, object]


def proposal_answer(found: Found) -> JsonObject:
    """A proposal: its id, what the family says of it, the mapping that it would be."""
    proposal = found.proposal
    answer: JsonObject = {
        "id": proposal.id,
        "status": found.status.value,
        "family": proposal.text("family"),
        "device": proposal.text("device"),
        "label": proposal.value(LABEL),
        "announcedOn": proposal.text("announcedOn"),
        "proposedAt": proposal.value(PROPOSED_AT),
        "mapping": proposal.mapping,
    }
    others: JsonObject = {
        "quantity": proposal.text("quantity"),
        "question": proposal.text("question"),
        "command": proposal.command,
        "error": defect(proposal),
    }
    return answer | {name: value for name, value in others.items() if value}


def unknown_answer(topic: UnknownTopic, *, shows_payloads: bool) -> JsonObject:
    """A topic that no mapping reads; payloads only for who may receive it."""
    answer: JsonObject = {
        "topic": topic.topic,
        "count": topic.count,
        "first": _time(topic.first_at),
        "last": _time(topic.last_at),
        "family": topic.family,
        "guesses": [_guess(each) for each in topic.guesses],
    }
    if shows_payloads:
        answer["payloads"] = [_sample(each) for each in topic.samples]
    return answer


def _guess(guess: Proposal) -> JsonObject:
    told = {
        "id": short_id(guess.mapping.iri),
        "label": guess.label,
        "mapping": members_of(guess.mapping),
        "quantity": guess.quantity,
        "question": guess.question,
    }
    return {name: value for name, value in told.items() if value}


def _sample(sample: Sample) -> JsonObject:
    return {
        "receivedAt": _time(sample.received_at),
        "bytes": sample.length_bytes,
        "retained": sample.retained,
        **payload_members(_whole_characters(sample)),
    }


def _whole_characters(sample: Sample) -> bytes:
    """A text that was cut off within a character loses the rest of that one."""
    payload = sample.payload
    if sample.length_bytes == len(payload):
        return payload
    for cut in range(4):
        try:
            (payload[: len(payload) - cut]).decode()
        except UnicodeDecodeError:
            continue
        return payload[: len(payload) - cut]
    return payload


def change_answer(change: MappingChange) -> JsonObject:
    """A recorded change, with its mappings before and after."""
    before, after = (described(nodes_of(each)) for each in (change.before, change.after))
    answer: JsonObject = {
        "id": str(change.number),
        "kind": change.kind,
        "at": change.at,
        "by": change.by,
        "nodes": sorted(node.value for node in change.nodes),
        "before": before,
        "after": after,
    }
    return answer | ({"undoes": change.undoes} if change.undoes else {})


def trial_answer(trial: Trial, violations: Sequence[Violation]) -> JsonObject:
    """What a message would be."""
    return {
        "matched": trial.matched,
        "observations": [observation_answer(each) for each in trial.observations],
        "triples": [_quad(each) for each in trial.triples],
        "violations": [asdict(each) for each in violations],
        "faults": [fault_answer(each) for each in trial.faults],
        "notices": [notice_answer(each) for each in trial.notices],
    }


def observation_answer(seen: Observation) -> JsonObject:
    """All that is said of a result; what is not said is null."""
    how = seen.circumstances
    return {
        "sensor": seen.sensor,
        "property": seen.observed_property,
        "feature": seen.feature_of_interest,
        "result": seen.lexical,
        "datatype": seen.datatype,
        "unit": seen.unit,
        "phenomenonTime": None if seen.phenomenon_time is None else _time(seen.phenomenon_time),
        "sequence": seen.device_sequence,
        "timeSource": _clock(seen).value,
        "historical": how.historical,
        "seed": how.seed,
        "clockSuspect": how.clock_suspect,
    }


def _clock(seen: Observation) -> TimeSource:
    """Ours where the payload tells no time."""
    told = seen.circumstances.time_source
    return TimeSource.GATEWAY if seen.phenomenon_time is None else told


def fault_answer(fault: Fault) -> JsonObject:
    """What was wrong."""
    return {"mapping": fault.mapping, "reason": fault.reason.value, "detail": fault.detail}


def notice_answer(notice: Notice) -> JsonObject:
    """What a message says beside observations; `kind` says which members there are."""
    if isinstance(notice, DeviceRequest):
        told: JsonObject = {"topic": notice.topic, "reason": notice.reason, "qos": notice.qos}
        return {"kind": "request", **told, **payload_members(notice.payload)}
    stream = dict(zip(("sensor", "property", "feature"), notice.stream, strict=True))
    if isinstance(notice, Heartbeat):
        return {"kind": "heartbeat", **stream}
    if isinstance(notice, Liveness):
        after_s = notice.expires_after_s
        return {"kind": "liveness", **stream, "online": notice.is_online, "expiresAfter": after_s}
    return {"kind": "unitChange", **stream, "before": notice.before, "after": notice.after}


def _quad(quad: Quad) -> str:
    """As N-Quads; in the default graph that is as N-Triples."""
    terms = [quad.subject, quad.predicate, quad.object]
    graph = [] if isinstance(quad.graph_name, DefaultGraph) else [quad.graph_name]
    return f"{' '.join(map(str, [*terms, *graph]))} ."


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
