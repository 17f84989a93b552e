"""What a rehearsal is answered with: the report of its process, as `admin.rehearsal` makes it.

Place on the way of the data: last step of a rehearsal. docs/mappings.md shows it.
"""

from pydantic import Field

from gateway.gates.http.json_router import Answer


class RehearsedObservation(Answer):
    """An observation as one side has it."""

    sensor: str
    property: str
    feature: str
    result: str
    datatype: str
    unit: str | None
    time: str | None
    clock: str
    historical: bool
    sequence: str | None


class ObservationDifference(Answer):
    """An observation that one side lacks (null), or the `fields` that are others."""

    topic: str
    received_at: str
    old: RehearsedObservation | None
    new: RehearsedObservation | None
    fields: list[str]


class FaultDifference(Answer):
    """A fault that one side alone has; `kind` is added or removed."""

    topic: str
    received_at: str
    kind: str
    reason: str
    detail: str
    mapping: str | None


class TriplesDifference(Answer):
    """Quads that only one side writes, as in N-Quads."""

    added: list[str]
    removed: list[str]


class RowsDifference(Answer):
    """Rows of an answer that came and went on one side alone; terms as in N-Triples."""

    added: list[dict[str, str]]
    removed: list[dict[str, str]]


class SubscriptionDifference(Answer):
    """How the answers to a query differ at the end, or why it could not be asked."""

    query: str
    error: str = ""
    added: list[dict[str, str]] = Field(default_factory=list)
    removed: list[dict[str, str]] = Field(default_factory=list)
    passing: RowsDifference | None = None
    counts: dict[str, int] = Field(default_factory=dict)


class Because(Answer):
    """The message that a command would have followed."""

    topic: str
    received_at: str


class CommandTold(Answer):
    """What a rule would have sent; `message` is null for what it says at the start."""

    rule: str
    topic: str
    payload: str
    message: Because | None


class RuleFailure(Answer):
    """Why a rule could not be followed, or a row of it not be sent."""

    rule: str
    reason: str


class Report(Answer):
    """What would differ; `kept` messages were there, `messages` of them were rehearsed.

    `counts` are of all differences, of which the first of each kind are told.
    `subscriptions_skipped` says why no query was asked, and no rule followed. `commands` are the
    first of `commands_count` that `rules` would have sent.
    """

    messages: int
    kept: int
    same: int
    counts: dict[str, int]
    observations: list[ObservationDifference]
    faults: list[FaultDifference]
    triples: TriplesDifference
    subscriptions: list[SubscriptionDifference]
    subscriptions_skipped: str
    commands: list[CommandTold] = Field(default_factory=list)
    commands_count: int = 0
    rules_failed: list[RuleFailure] = Field(default_factory=list)
