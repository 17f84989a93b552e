"""What a device said of itself before its proposals were confirmed counts once they are."""

import json
from pathlib import Path

from tests.gateway.admin.onboarding.house import a_house, config
from tests.kit.gateways import VALUES, publish, rows_of, watch

MODE = "homie/5/stove/n/mode"
DESCRIPTION = {
    "homie": "5.0",
    "version": 1,
    "nodes": {"n": {"properties": {"mode": {"datatype": "enum", "format": "eco,warm"}}}},
}


async def test_words_of_a_homie_device_are_those_of_its_earlier_description(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        port = gateway.mqtt_port
        await publish(port, [("homie/5/stove/$description", json.dumps(DESCRIPTION).encode())])
        (proposal,) = await api.until(1)
        await api.ask("POST", f"/mappings/proposals/{proposal['id']}/confirm")
        told = await watch(gateway, VALUES)
        await publish(port, [(MODE, b"eco"), (MODE, b"hot"), (MODE, b"warm")])
        await told.until(lambda: told.count_added == 2)
        assert [value for _, value in rows_of(gateway, VALUES)] == ["warm"]
