"""kill -9 while a door opens and closes under few `last_seen`: each change is there, once.

What is not acknowledged comes again with DUP, from the device or from Mosquitto: among it are
readings that the journal has, whose value meanwhile changed, and readings that nobody has seen.
"""

import json
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pyoxigraph import QuerySolutions

from gateway.engine import Engine
from tests.kit.gateways import (
    PREFIXES,
    Device,
    Program,
    Publication,
    free_port,
    journal_records,
    mapping,
    mosquitto,
    text,
    wait_until,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

TOPIC = "zigbee2mqtt/+"
BATCH = 300
SAME_TIME = 12
KILLS = [1, pytest.param(12, marks=pytest.mark.slow)]
PRESENT = f"{PREFIXES} SELECT ?value {{ ?o a sosa:Observation ; sosa:hasSimpleResult ?value }}"
COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)


def change(number: int) -> Publication:
    """Open and closed by turns; twelve changes have one `last_seen`."""
    minutes = number // SAME_TIME
    seen = f"2026-03-02T{minutes // 60:02}:{minutes % 60:02}:00.5Z"
    state = {"contact": number % 2 == 0, "last_seen": seen}
    return "zigbee2mqtt/door", json.dumps(state).encode()


def truth(count: int) -> list[tuple[int, str]]:
    """Minute and value of each change."""
    return [(n // SAME_TIME, "true" if n % 2 == 0 else "false") for n in range(count)]


class Service:
    """`sosa-gateway run` on one folder, started as often as it is killed."""

    def __init__(self, folder: Path, broker: int | None) -> None:
        self.port = broker or free_port()
        self._folder = folder
        known = mapping("contact", TOPIC, format="zigbee2mqtt", selector="contact")
        self._config = folder / "gateway.toml"
        self._config.write_text(
            f'[gateway]\nid = "test"\n[store]\nkind = "disk"\n'
            f'[mqtt]\nmode = "{"embedded" if broker is None else "external"}"\n'
            f"port = {self.port}\n[http]\nport = {free_port()}\n[websocket]\nport = 0\n"
            f'[jsap]\nprofiles = ["observations", "{write_profile(folder, [known])}"]\n'
            '[log]\nformat = "json"\n',
            encoding="utf-8",
        )

    @contextmanager
    def started(self) -> Iterator[Program]:
        with Program(*COMMAND, "run", "--config", str(self._config)) as program:
            program.wait_for('"serving"')
            yield program

    def journal(self) -> list[tuple[int, str]]:
        found = []
        for record in journal_records(self._folder):
            seen = record.observation
            assert seen.phenomenon_time is not None
            time = seen.phenomenon_time
            found.append((time.hour * 60 + time.minute, seen.lexical))
        return found

    def present(self) -> list[str]:
        """The store as it was left."""
        engine = Engine.open(self._folder / "data" / "store")
        rows = engine.query(PRESENT)
        assert isinstance(rows, QuerySolutions)
        values = [text(row["value"]) for row in rows]
        engine.close()
        return values


@pytest.mark.parametrize("kills", KILLS)
@pytest.mark.parametrize("mode", ["embedded", "mosquitto"])
def test_each_change_under_one_time_outlives_a_kill_and_none_doubles(
    tmp_path: Path, mode: str, kills: int
) -> None:
    chance = random.Random(kills)
    published = 0
    with ExitStack() as stack:
        broker = stack.enter_context(mosquitto(tmp_path)) if mode == "mosquitto" else None
        service = Service(tmp_path, None if broker is None else broker.port)
        device = Device(service.port, "bridge", window=BATCH)
        for life in range(kills + 1):
            with service.started() as program:
                if life == 0:
                    if broker is not None:
                        broker.wait_subscribed(TOPIC)
                    stack.enter_context(device)
                before = len(service.journal())
                for number in range(published, published + BATCH):
                    device.send(*change(number))
                published += BATCH
                if life < kills:
                    enough = before + chance.randrange(1, BATCH)
                    wait_until(lambda: len(service.journal()) >= enough)  # noqa: B023
                    program.kill()
                else:
                    wait_until(lambda: len(service.journal()) >= published)  # noqa: B023
                    assert device.wait_acknowledged(published) == published
                    assert program.terminate() == 0
    assert service.journal() == truth(published)
    assert service.present() == ["true" if published % 2 else "false"]
