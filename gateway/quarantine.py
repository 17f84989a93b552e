"""Quarantine: messages that gave no observation, with the reason, for a person to look at.

A bounded file of JSON Lines (the older half is kept as `.1`) and counters; a bad payload costs
itself only, and a full disk costs the file only.
"""

import base64
import json
import logging
from collections import Counter, deque
from pathlib import Path

from adapters.adapter import Fault
from adapters.message import Message

log = logging.getLogger(__name__)

_PAYLOAD_SHOWN = 512


class Quarantine:
    """Writes faulty messages to `quarantine.jsonl` in a folder; None keeps the last 100 only."""

    def __init__(self, folder: Path | None, *, file_bytes: int = 1_000_000) -> None:
        self._path = None if folder is None else folder / "quarantine.jsonl"
        self._file_bytes = file_bytes
        self.recent: deque[dict[str, object]] = deque(maxlen=100)
        self.reasons: Counter[str] = Counter()

    def add(self, message: Message, faults: tuple[Fault, ...]) -> None:
        """Keep a message with what is wrong with it."""
        lines = []
        for fault in faults:
            self.reasons[fault.reason.value] += 1
            entry = _entry(message, fault)
            self.recent.append(entry)
            lines.append(json.dumps(entry, ensure_ascii=False))
        if self._path is None:
            return
        try:
            self._write("".join(f"{line}\n" for line in lines))
        except OSError as error:
            log.error("quarantine_not_written", extra={"reason": str(error)})

    def _write(self, text: str) -> None:
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text)
            size = file.tell()
        if size > self._file_bytes:
            self._path.replace(self._path.with_suffix(".jsonl.1"))


def _entry(message: Message, fault: Fault) -> dict[str, object]:
    return {
        "received_at": message.received_at.isoformat(),
        "topic": message.topic,
        "reason": fault.reason.value,
        "detail": fault.detail,
        "mapping": fault.mapping,
        "payload_base64": base64.b64encode(message.payload[:_PAYLOAD_SHOWN]).decode(),
        "payload_bytes": len(message.payload),
    }
