"""What the HTTP gate of mappings answers: values of `gateway.admin.onboarding` as JSON.

Place on the way of the data: behind that package, last step before the wire.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from pyoxigraph import DefaultGraph, Quad

from adapters.values.fault import Fault
from adapters.values.notice import DeviceRequest, Heartbeat, Liveness, Notice
from adapters.values.observation import Observation, TimeSource
from adapters.values.proposal import Proposal
from gateway.admin.onboarding.changes import MappingChange
from gateway.admin.onboarding.confirmation import Left, defect
from gateway.admin.onboarding.migration import Migration
from gateway.admin.onboarding.nodes import described, nodes_of
from gateway.admin.onboarding.onboarding import Found
from gateway.admin.onboarding.proposals import (
    LABEL,
    PROPOSED_AT,
    Status,
    members_of,
    short_id,
)
from gateway.admin.onboarding.trial import Trial
from gateway.admin.onboarding.unknown import Sample, UnknownTopic
from gateway.admin.onboarding.violations import NOT_CHECKED, Violation
from gateway.gates.admin.mapping_bodies import Members
from gateway.gates.http.json_router import Answer
from gateway.gates.protocol.payload_json import payload_members

MappingMembers = Annotated[Members, Field(description="as in extended.mappings of a JSAP profile")]


class Mappings(Answer):
    """All mappings; `error` is in those that do not compile."""

    mappings: list[MappingMembers]


class ProposalTold(Answer):
    """A proposal: what the family says of it, the mapping that it would be."""

    id: str
    status: Status
    family: str
    device: str
    label: str
    announced_on: Annotated[str, Field(serialization_alias="announcedOn")]
    proposed_at: Annotated[str, Field(serialization_alias="proposedAt")]
    mapping: MappingMembers
    known: bool
    kind: str
    quantity: str = ""
    question: str = ""
    command: Members = Field(default_factory=dict)
    before: Members = Field(default_factory=dict)
    error: str = ""


class Proposals(Answer):
    """By family, device and label."""

    proposals: list[ProposalTold]


class Guess(Answer):
    """A mapping that would read an unknown topic."""

    id: str
    label: str = ""
    mapping: MappingMembers
    known: bool
    kind: str
    quantity: str = ""
    question: str = ""


class SampleTold(Answer):
    """How a message of an unknown topic began."""

    received_at: Annotated[str, Field(serialization_alias="receivedAt")]
    bytes: int
    retained: bool
    payload: str = ""
    payload_base64: Annotated[str, Field(serialization_alias="payloadBase64")] = ""


class UnknownTopicTold(Answer):
    """A topic that no mapping reads; payloads only for who may receive it."""

    topic: str
    count: int
    first: str
    last: str
    family: str
    guesses: list[Guess]
    payloads: list[SampleTold] = Field(default_factory=list)


class UnknownTopicList(Answer):
    """The last heard first; `forgotten` ones had no room."""

    topics: list[UnknownTopicTold]
    forgotten: int


class Change(Answer):
    """A recorded change, with its mappings before and after."""

    id: str
    kind: str
    at: str
    by: str
    nodes: list[str]
    before: list[MappingMembers]
    after: list[MappingMembers]
    undoes: str = ""


class Changes(Answer):
    """The last first."""

    changes: list[Change]


class Changed(Answer):
    """What was done; nothing where all was so already."""

    changed: bool
    change: Change | None = None


class LeftTold(Answer):
    """A proposal that was not confirmed, and why: its question, or what is wrong with it."""

    id: str
    label: str
    reason: str


class Confirmation(Changed):
    """What was confirmed, and what was left."""

    left: list[LeftTold] = Field(default_factory=list)


class OutdatedTold(Answer):
    """A mapping in force, the property that it gives, and the one that its device tells now."""

    id: str
    proposal: str
    label: str
    before: str
    after: str
    inverted: bool
    question: str = ""


class MentionTold(Answer):
    """Where an old property is named."""

    where: str
    iri: str


class Migrated(Changed):
    """The mappings that mean something else now, and what names their old properties."""

    outdated: list[OutdatedTold]
    mentions: list[MentionTold]


class ObservationTold(Answer):
    """All that is said of a result; what is not said is null."""

    sensor: str
    property: str
    feature: str
    result: str
    datatype: str
    unit: str | None
    phenomenon_time: Annotated[str | None, Field(serialization_alias="phenomenonTime")]
    sequence: str | None
    time_source: Annotated[TimeSource, Field(serialization_alias="timeSource")]
    historical: bool
    seed: bool
    clock_suspect: Annotated[bool, Field(serialization_alias="clockSuspect")]


class ViolationTold(Answer):
    """A node that is not as its shape says."""

    node: str
    path: str
    value: str
    message: str


class FaultTold(Answer):
    """What was wrong; `mapping` is null where it is so for all of them."""

    reason: str
    detail: str
    mapping: str | None


class RequestTold(Answer):
    """What the device wants published."""

    kind: Literal["request"]
    topic: str
    reason: str
    qos: int
    payload: str = ""
    payload_base64: Annotated[str, Field(serialization_alias="payloadBase64")] = ""


class StreamTold(Answer):
    """What a message says of a stream; `kind` says which members there are besides."""

    kind: Literal["heartbeat", "liveness", "unitChange"]
    sensor: str
    property: str
    feature: str
    online: bool = False
    expires_after: Annotated[int | float | None, Field(serialization_alias="expiresAfter")] = None
    before: str = ""
    after: str = ""


class TrialTold(Answer):
    """What a message would be; `violations` is null where they are not checked, for a reason."""

    matched: bool
    observations: list[ObservationTold]
    triples: list[str]
    violations: list[ViolationTold] | None
    violations_note: Annotated[str, Field(serialization_alias="violationsNote")] = ""
    faults: list[FaultTold]
    notices: list[RequestTold | StreamTold]


def proposal_answer(found: Found) -> ProposalTold:
    """A proposal as it is told."""
    proposal = found.proposal
    return ProposalTold(
        id=proposal.id,
        status=found.status,
        family=proposal.text("family"),
        device=proposal.text("device"),
        label=proposal.value(LABEL),
        announced_on=proposal.text("announcedOn"),
        proposed_at=proposal.value(PROPOSED_AT),
        mapping=proposal.mapping,
        known=proposal.is_known,
        kind=proposal.kind.value.lower(),
        **_said(
            quantity=proposal.text("quantity"),
            question=proposal.text("question"),
            command=proposal.command,
            before=_before(found),
            error=defect(proposal),
        ),
    )


def _before(found: Found) -> Members:
    """The mapping as it was announced when it was made, where it is another one now."""
    before = found.proposal.before if found.status.is_open else None
    return {} if before is None else before.mapping


def unknown_answer(topic: UnknownTopic, *, shows_payloads: bool) -> UnknownTopicTold:
    """An unknown topic as it is told to who may, or may not, receive it."""
    payloads = [_sample(each) for each in topic.samples]
    return UnknownTopicTold(
        topic=topic.topic,
        count=topic.count,
        first=_time(topic.first_at),
        last=_time(topic.last_at),
        family=topic.family,
        guesses=[_guess(each) for each in topic.guesses],
        **({"payloads": payloads} if shows_payloads else {}),
    )


def _guess(guess: Proposal) -> Guess:
    return Guess(
        id=short_id(guess.mapping.iri),
        mapping=members_of(guess.mapping),
        known=guess.meaning.is_known,
        kind=guess.meaning.kind.value.lower(),
        **_said(label=guess.label, quantity=guess.meaning.quantity, question=guess.questions),
    )


def _said(**members: object) -> dict[str, Any]:
    """What says something, of these members."""
    return {name: value for name, value in members.items() if value}


def _sample(sample: Sample) -> SampleTold:
    return SampleTold(
        received_at=_time(sample.received_at),
        bytes=sample.length_bytes,
        retained=sample.retained,
        **payload_members(_whole_characters(sample)),
    )


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


def change_answer(change: MappingChange) -> Change:
    """A recorded change as it is told."""
    before, after = (described(nodes_of(each)) for each in (change.before, change.after))
    return Change(
        id=str(change.number),
        kind=change.kind,
        at=change.at,
        by=change.by,
        nodes=sorted(node.value for node in change.nodes),
        before=before,
        after=after,
        **_said(undoes=change.undoes),
    )


def confirmation_answer(change: MappingChange | None, left: Sequence[Left]) -> Confirmation:
    """What has been confirmed, and what was left."""
    told = [
        LeftTold(id=each.proposal.id, label=each.proposal.value(LABEL), reason=each.reason)
        for each in left
    ]
    return Confirmation(
        changed=change is not None, **_said(change=change and change_answer(change), left=told)
    )


def migration_answer(found: Migration, change: MappingChange | None) -> Migrated:
    """What was migrated, or would be."""
    return Migrated(
        changed=change is not None,
        outdated=[
            OutdatedTold(
                id=each.proposal.node.value,
                proposal=each.proposal.id,
                label=each.proposal.value(LABEL),
                before=each.before,
                after=each.after,
                inverted=each.is_inverted,
                **_said(question=each.proposal.text("question")),
            )
            for each in found.outdated
        ],
        mentions=[MentionTold(where=each.where, iri=each.iri) for each in found.mentions],
        **_said(change=change and change_answer(change)),
    )


def changed_answer(change: MappingChange | None) -> Changed:
    """What has been done."""
    if change is None:
        return Changed(changed=False)
    return Changed(changed=True, change=change_answer(change))


def trial_answer(trial: Trial, violations: Sequence[Violation] | None) -> TrialTold:
    """A trial as it is told, and what to install where its violations are not known."""
    if violations is None:
        checked: dict[str, Any] = {"violations": None, "violations_note": NOT_CHECKED}
    else:
        checked = {"violations": [ViolationTold(**asdict(each)) for each in violations]}
    return TrialTold(
        matched=trial.matched,
        observations=[observation_answer(each) for each in trial.observations],
        triples=[_quad(each) for each in trial.triples],
        **checked,
        faults=[fault_answer(each) for each in trial.faults],
        notices=[notice_answer(each) for each in trial.notices],
    )


def observation_answer(seen: Observation) -> ObservationTold:
    """A result as it is told."""
    how = seen.circumstances
    return ObservationTold(
        sensor=seen.sensor,
        property=seen.observed_property,
        feature=seen.feature_of_interest,
        result=seen.lexical,
        datatype=seen.datatype,
        unit=seen.unit,
        phenomenon_time=None if seen.phenomenon_time is None else _time(seen.phenomenon_time),
        sequence=seen.device_sequence,
        time_source=_clock(seen),
        historical=how.historical,
        seed=how.seed,
        clock_suspect=how.clock_suspect,
    )


def _clock(seen: Observation) -> TimeSource:
    """Ours where the payload tells no time."""
    told = seen.circumstances.time_source
    return TimeSource.GATEWAY if seen.phenomenon_time is None else told


def fault_answer(fault: Fault) -> FaultTold:
    """A fault as it is told."""
    return FaultTold(reason=fault.reason.value, detail=fault.detail, mapping=fault.mapping)


def notice_answer(notice: Notice) -> RequestTold | StreamTold:
    """What a message says beside observations, as it is told."""
    if isinstance(notice, DeviceRequest):
        return RequestTold(
            kind="request",
            topic=notice.topic,
            reason=notice.reason,
            qos=notice.qos,
            **payload_members(notice.payload),
        )
    sensor, property_, feature = notice.stream
    stream: dict[str, Any] = {"sensor": sensor, "property": property_, "feature": feature}
    if isinstance(notice, Heartbeat):
        return StreamTold(kind="heartbeat", **stream)
    if isinstance(notice, Liveness):
        after_s = notice.expires_after_s
        return StreamTold(kind="liveness", online=notice.is_online, expires_after=after_s, **stream)
    return StreamTold(kind="unitChange", before=notice.before, after=notice.after, **stream)


def _quad(quad: Quad) -> str:
    """As N-Quads; in the default graph that is as N-Triples."""
    terms = [quad.subject, quad.predicate, quad.object]
    graph = [] if isinstance(quad.graph_name, DefaultGraph) else [quad.graph_name]
    return f"{' '.join(map(str, [*terms, *graph]))} ."


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
