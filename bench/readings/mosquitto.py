"""An external broker for a benchmark: Mosquitto on a free port of this machine, if installed.

Place on the way of the data: between publishers and gateway. Nothing is kept on disk and no queue
is short, so that the broker is not what is measured. It logs to standard error, which Mosquitto
writes at once; the log tells when it is ready and who has subscribed.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.processes import Child, free_port

_CONFIGURATION = """\
listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_inflight_messages 1000
max_queued_messages 0
set_tcp_nodelay true
log_dest stderr
log_type information
log_type subscribe
"""


@dataclass(frozen=True, slots=True)
class Mosquitto:
    """A broker that runs."""

    port: int
    child: Child

    def wait_subscribed(self, topic_filter: str) -> None:
        """Wait until somebody has subscribed the filter; the log says so."""
        self.child.wait_for(f" {topic_filter}")


def find_mosquitto() -> str | None:
    """The program; Debian has it where only root's PATH looks."""
    return shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")


@contextmanager
def running_mosquitto(program: str, folder: Path) -> Iterator[Mosquitto]:
    """A broker for as long as the context; `folder` gets its configuration."""
    port = free_port()
    file = folder / "mosquitto.conf"
    file.write_text(_CONFIGURATION.format(port=port), encoding="utf-8")
    with Child("mosquitto", [program, "-c", str(file)]) as child:
        child.wait_for(" running")
        yield Mosquitto(port, child)
