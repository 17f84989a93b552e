"""`KeptMessages`: where messages stay for people to look at, once ingest has seen them."""

from dataclasses import dataclass, field

from gateway.ingest.quarantine import Quarantine
from gateway.ingest.raw_messages import RawMessages


@dataclass(frozen=True, slots=True)
class KeptMessages:
    """The faulty ones with their faults, and the last of all as they came."""

    quarantine: Quarantine
    raw: RawMessages = field(default_factory=RawMessages)
