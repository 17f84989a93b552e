"""The settings of what is bounded: [limits] of gateway.toml.

A default stands once: that of a part below in the values that the part takes, that of a gate here.
"""

from typing import Annotated

from pydantic import Field

from gateway.config.values import Count, Seconds, Section
from gateway.ingest.quarantine import QuarantineLimits
from gateway.ingest.raw_messages import RawLimits
from gateway.rdf.documents import DocumentLimits
from gateway.scheduler.limits import SRQ, URQ
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.sparql.bounds.form import FormBounds

_QUARANTINE, _RAW = QuarantineLimits(), RawLimits()
_DOCUMENTS, _FORM, _ANSWER = DocumentLimits(), FormBounds(), AnswerBounds()


class LimitsSettings(Section):
    """Bounds of the queues and of one message (docs/limits.md, docs/brokers.md)."""

    inbox: Count = 10_000
    urq: Count = URQ
    srq: Count = SRQ
    outbox: Count = 1_000
    outbox_rows: Count = 100_000
    resume_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    resume_messages: Annotated[int, Field(ge=0)] = 10_000
    resume_bytes: Count = 4_194_304
    resume_total_bytes: Count = 67_108_864
    resume_subscriptions: Count = 1_000
    connections: Count = 5_000
    client_connections: Count = 2_000
    subscriptions: Count = 100_000
    client_subscriptions: Count = 50_000
    connection_subscriptions: Count = 1_000
    message_bytes: Count = 1_048_576
    stall_s: Seconds = 30.0
    payload_bytes: Annotated[int, Field(ge=1, le=268_435_455)] = 65_536
    future_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 86_400.0
    quarantine_messages: Count = _QUARANTINE.messages
    quarantine_bytes: Count = _QUARANTINE.total_bytes
    quarantine_payload_bytes: Count = _QUARANTINE.payload_bytes
    raw_messages: Annotated[int, Field(ge=0)] = _RAW.messages
    raw_bytes: Annotated[int, Field(ge=0)] = _RAW.total_bytes
    query_solutions: Count = _ANSWER.solutions
    query_patterns: Count = _FORM.patterns
    query_steps: Count = _FORM.steps
    query_operators: Count = _FORM.operators
    query_depth: Count = _FORM.depth
    query_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = _ANSWER.timeout_s
    query_memory_bytes: Count = 268_435_456
    queries: Count = 2
    queries_waiting: Annotated[int, Field(ge=0)] = 16
    client_queries: Count = 12
    requests: Count = 1000
    client_requests: Count = 250
    http_connections: Count = 2000
    client_http_connections: Count = 1200
    document_depth: Count = _DOCUMENTS.depth
    document_memory_bytes: Count = _DOCUMENTS.memory_bytes
    document_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = _DOCUMENTS.seconds
    head_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    request_bytes: Count = 4_194_304
    request_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0

    def of_quarantine(self) -> QuarantineLimits:
        """The limits of the quarantine."""
        return QuarantineLimits(
            self.quarantine_messages, self.quarantine_bytes, self.quarantine_payload_bytes
        )

    def of_form(self) -> FormBounds:
        """The bounds on the form of queries and updates."""
        return FormBounds(
            self.query_patterns, self.query_steps, self.query_operators, self.query_depth
        )

    def of_documents(self) -> DocumentLimits:
        """The limits of RDF that comes from outside."""
        return DocumentLimits(self.document_depth, self.document_memory_bytes, self.document_s)

    def of_raw_messages(self) -> RawLimits:
        """The limits of the ring of raw messages."""
        return RawLimits(self.raw_messages, self.raw_bytes)


DEFAULT_LIMITS = LimitsSettings()
"""What bounds a gate where nobody says otherwise."""
