"""Discovery: which family an unknown message is of, and the mappings that it suggests.

Place on the way: beside the registry. The gateway hands over what no mapping knows, and what comes
on the announcement topics of the families; proposals are shown, confirmed and written elsewhere.
"""

from collections.abc import Mapping as Lookup
from dataclasses import dataclass

from adapters.adapter import Format
from adapters.families import FORMATS
from adapters.memory import Memory
from adapters.message import Message
from adapters.payload import MAX_PAYLOAD_BYTES, Payload
from adapters.proposal import Names, Proposal

MAX_PROPOSALS = 500
"""Of one message: a bridge with hundreds of devices announces them in one."""

MAX_ANNOUNCEMENT_BYTES = 16 * MAX_PAYLOAD_BYTES
"""A list of a bridge's devices is longer than any reading."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """`family` is the name of a format, empty where none recognises the message."""

    family: str = ""
    proposals: tuple[Proposal, ...] = ()


NOTHING = Discovered()


class Discovery:
    """Asks the families; remembers for those that announce themselves in several messages.

    >>> from datetime import UTC, datetime
    >>> found = Discovery().discover(Message("x/y", b'{"temp":21.5}', datetime.now(UTC)))
    >>> found.family, [proposal.mapping.selector for proposal in found.proposals]
    ('json', ['$.temp'])
    """

    def __init__(
        self, names: Names | None = None, formats: Lookup[str, Format] | None = None
    ) -> None:
        self._names = names or Names()
        self._formats = FORMATS if formats is None else formats
        self._memory = Memory()

    @property
    def announcements(self) -> frozenset[str]:
        """The topic filters of what families publish about themselves."""
        return frozenset(each for form in self._formats.values() for each in form.announcements)

    def discover(self, message: Message) -> Discovered:
        """The first family, in the order of the table, that has something to propose."""
        if len(message.payload) > MAX_ANNOUNCEMENT_BYTES:
            return NOTHING
        payload = Payload(message)
        for name, form in self._formats.items():
            found = form.propose(payload, self._names, self._memory) if form.propose else ()
            if found:
                return Discovered(name, tuple(found[:MAX_PROPOSALS]))
        return NOTHING
