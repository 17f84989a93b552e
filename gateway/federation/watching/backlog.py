"""`Backlog`: how much of the log of events one member has not acknowledged, in bytes.

Place: beside a member's stream, looked at now and then. What is told and what the log takes up are
counted apart, so the two are compared at one moment: what was in the log then has arrived once all
that was told by then has.
"""

from typing import NamedTuple

from gateway.federation.stream import OutgoingStream


class _Moment(NamedTuple):
    """Parts that a life of the stream had told, and bytes that the log had taken up."""

    life: str
    told: int
    appended: int


class Backlog:
    """`arrived` are bytes of the log that the member has, of those that came since the start."""

    def __init__(self) -> None:
        self.arrived = 0
        self._moment: _Moment | None = None

    def look(self, stream: OutgoingStream, appended: int) -> None:
        """Compare; exact as of the look before."""
        moment = self._moment
        if moment is not None and moment.life == stream.life and stream.arrived < moment.told:
            return
        if moment is not None and moment.life == stream.life:
            self.arrived = moment.appended
        self._moment = _Moment(stream.life, stream.told, appended)
