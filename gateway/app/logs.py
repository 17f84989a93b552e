"""Log lines on standard error: one event a line, as text for people or as JSON for collectors.

A log call names an event and gives its fields as `extra`: log.info("opened", extra={"port": 1}).
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from gateway.admin.looking.log_tail import LogTail
from gateway.config.settings import LogSettings

_LIBRARIES = {
    "amqtt": logging.WARNING,
    "amqtt.broker": logging.CRITICAL,  # its failures reach us as exceptions, with what to do
    "transitions": logging.WARNING,
    "uvicorn": logging.WARNING,
}
"""What libraries may say: they narrate at INFO what our own events tell once."""

OURS = ("gateway", "adapters", "jsap")

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure_logs(settings: LogSettings) -> None:
    """Send what is at least at the level to standard error; replaces earlier handlers.

    Libraries are heard from WARNING on: what they find worth an INFO is not about the gateway.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if settings.format == "json" else TextLines())
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    for package in OURS:
        logging.getLogger(package).setLevel(level)


def fields(record: logging.LogRecord) -> Mapping[str, object]:
    """The event's own fields, in the order in which they were given."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class TextLines(logging.Formatter):
    """`time LEVEL logger event name=value ...`; values with spaces are quoted as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback follows on lines of its own."""
        pairs = [f"{name}={_text(value)}" for name, value in fields(record).items()]
        event = [_time(record), record.levelname, record.name, record.getMessage(), *pairs]
        return "\n".join([" ".join(event), *_traceback(self, record)])


class EventText(logging.Formatter):
    """`event name=value ...`, without what tells when and who."""

    def format(self, record: logging.LogRecord) -> str:
        """The text; of a traceback the last line alone."""
        pairs = [f"{name}={_text(value)}" for name, value in fields(record).items()]
        trace = [_text(repr(record.exc_info[1]))] if record.exc_info else []
        return " ".join([record.getMessage(), *pairs, *trace])


@contextmanager
def kept_log() -> Iterator[LogTail]:
    """Keep the last lines of the log for the time of the context."""
    tail = LogTail(EventText())
    root = logging.getLogger()
    root.addHandler(tail)
    try:
        yield tail
    finally:
        root.removeHandler(tail)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, event, the fields, and `error`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; newlines of a traceback are escaped in it."""
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **fields(record),
        }
        if trace := _traceback(self, record):
            line["error"] = trace[0]
        return json.dumps(line, ensure_ascii=False, default=str)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    return [formatter.formatException(record.exc_info)] if record.exc_info else []


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _text(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and text and not any(sign in text for sign in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=False)
