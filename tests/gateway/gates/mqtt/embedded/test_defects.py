"""Every defect that `HardenedBroker` repairs, probed in both brokers.

A failure of the second test is good news: the amqtt installed has repaired the defect, and the
override that names it can be looked at for removal.
"""

import time
from types import SimpleNamespace

import amqtt.broker
import pytest

from tests.gateway.gates.mqtt.embedded.brokers import hardened, stock
from tests.gateway.gates.mqtt.embedded.probes import PROBES

YEAR_S = 365 * 86_400.0


@pytest.fixture
def clock_of_expiry_a_year_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that end now look a year old to amqtt's session monitor."""
    ahead = SimpleNamespace(time=lambda: time.time() + YEAR_S)
    monkeypatch.setattr(amqtt.broker, "time", ahead)


@pytest.mark.usefixtures("clock_of_expiry_a_year_ahead")
@pytest.mark.parametrize("defect", PROBES)
async def test_hardened_broker_has_no_defect(defect: str) -> None:
    async with hardened() as subject:
        assert not await PROBES[defect](subject)


@pytest.mark.usefixtures("clock_of_expiry_a_year_ahead")
@pytest.mark.parametrize("defect", PROBES)
async def test_stock_amqtt_still_has_defect(defect: str) -> None:
    async with stock() as subject:
        assert await PROBES[defect](subject)
