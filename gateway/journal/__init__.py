"""The journal: what was accepted, durable before it is acknowledged, sealed to be shipped.

docs/segments.md is the contract of what leaves this package; `spool` has the journal itself.
"""

from gateway.journal.limits import JournalLimits
from gateway.journal.reading import read_journal
from gateway.journal.record import Actuation, Origin, Outcome, Position, Record
from gateway.journal.segment import read_segment
from gateway.journal.spool import Journal
from gateway.journal.upkeep import Upkeep

__all__ = [
    "Actuation",
    "Journal",
    "JournalLimits",
    "Origin",
    "Outcome",
    "Position",
    "Record",
    "Upkeep",
    "read_journal",
    "read_segment",
]
