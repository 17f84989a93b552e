"""kill -9 of the service while it seals, ships and makes room, under load.

Every acknowledged observation is in the journal or in the landing zone, and no identity has two
contents. Segments are short and room is scarce, so that all of it happens all the time.
"""

import random
from pathlib import Path

import pytest

from gateway.journal import Position
from tests.gateway.app.test_kill import BATCH, Sensors, Service
from tests.gateway.shipping.journals import landed
from tests.kit.gateways import journal_records, wait_until

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]

KILLS = [3, pytest.param(20, marks=pytest.mark.slow)]


def shipping_service(folder: Path) -> Service:
    service = Service(folder)
    (folder / "zone").mkdir()
    with (folder / "gateway.toml").open("a", encoding="utf-8") as config:
        config.write(
            "[journal]\nsegment_observations = 20\nsegment_s = 1\nkeep_s = 0\nmax_bytes = 65536\n"
            f'[shipping]\nto = "{folder / "zone"}"\n'
        )
    return service


def observations(folder: Path) -> dict[Position, int]:
    """By identity: what journal and zone have together; they must not disagree."""
    found = {each.position: int(each.observation.lexical) for each in journal_records(folder)}
    for identity, fields in landed(folder / "zone").items():
        position, value = Position(*identity), int(str(fields["v"]))
        assert found.setdefault(position, value) == value
    return found


@pytest.mark.parametrize("kills", KILLS)
def test_what_was_acknowledged_is_in_journal_or_zone_after_kills(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    service, sensors = shipping_service(tmp_path), Sensors()
    for _ in range(kills):
        with service.started() as program:
            sensors.publish(service.mqtt_port, chance.randrange(BATCH // 2, BATCH), then=program)
        assert sensors.acknowledged <= set(observations(tmp_path).values())
    with service.started() as program:
        sensors.publish(service.mqtt_port, BATCH)
        wait_until(lambda: len(landed(tmp_path / "zone")) >= sensors.published)
        assert program.terminate() == 0
    arrived = [int(str(fields["v"])) for fields in landed(tmp_path / "zone").values()]
    assert sorted(arrived) == [*range(sensors.published)]
    segments = (tmp_path / "data" / "journal").glob("*-*")  # the manifest has a line for each ever
    assert sum(path.stat().st_size for path in segments) < 80_000
