"""`SessionFilters`: the topic filters that our session at an external broker has, in a file.

Place on the way of the data: beside the gate to the external broker. The session outlives the
gateway (MQTT 5.0, 3.1.2.11.2), and no packet asks which filters are in it: without the file one
that no mapping wants any more would bring messages for ever. What cannot be read or written costs
that only, never a connection.
"""

import json
import logging
from pathlib import Path

log = logging.getLogger(__name__)


class SessionFilters:
    """At least the filters of the session, if it is still there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: frozenset[str] | None = None

    def load(self) -> frozenset[str]:
        """What was saved; none where there is no file, or none of ours."""
        try:
            filters = json.loads(self._path.read_text(encoding="utf-8"))
            return frozenset(map(str, filters))
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, TypeError) as error:
            self._complain("session_not_read", error)
            return frozenset()

    def save(self, filters: frozenset[str]) -> None:
        """Replace the file, as a whole; to be called before a filter is added to the session."""
        if filters == self._saved:
            return
        written = self._path.with_suffix(".new")
        try:
            written.write_text(json.dumps(sorted(filters)), encoding="utf-8")
            written.replace(self._path)
            self._saved = filters
        except OSError as error:
            self._complain("session_not_written", error)

    def _complain(self, event: str, error: Exception) -> None:
        log.warning(event, extra={"path": str(self._path), "reason": str(error)})
