"""Programs that publish without announcing: each device of a shared topic is proposed by itself."""

import json
from pathlib import Path
from typing import Any

from tests.gateway.admin.onboarding.house import a_house, config
from tests.kit.gateways import PREFIXES, publish, watch

EVENTS = "rtl_433/attic/events"
VALUES = PREFIXES + "SELECT ?value { ?observation sosa:hasSimpleResult ?value }"


def heard(number: int, **values: Any) -> tuple[str, bytes]:
    told = {"time": "2026-03-02 08:00:00", "model": "Nexus-TH", "id": number, "channel": 1}
    return EVENTS, json.dumps(told | values).encode()


async def test_each_radio_sensor_is_proposed_and_the_one_that_is_taken_tells(
    tmp_path: Path,
) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        for number in range(6):  # every message counts, not the first, second, fourth alone
            await publish(gateway.mqtt_port, [heard(number, temperature_C=20 + number)])
        found = await api.until(6, status="proposed")
        assert {each["family"] for each in found} == {"rtl_433"}
        mine = next(each for each in found if each["device"] == "Nexus-TH/3/1")
        assert mine["mapping"]["condition"] == (
            "@.model == 'Nexus-TH' && @.id == 3 && @.channel == 1"
        )
        confirmed = await api.ask("POST", "/mappings/proposals/confirm", {"ids": [mine["id"]]})
        assert confirmed["changed"]
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [heard(4, temperature_C=1), heard(3, temperature_C=21.5)])
        await told.until(lambda: told.values() == ["21.5"])
        await publish(gateway.mqtt_port, [heard(9, temperature_C=1)])  # new ones after that, too
        await api.until(6, status="proposed")
