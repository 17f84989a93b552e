"""docs/shipping.md: its collector as it is typed there, and a gateway that ships to it."""

import re
from pathlib import Path

from gateway.shipping import Shipper, open_zone
from tests.gateway.shipping.journals import landed, sealed_journal
from tests.kit.blocks import START_S, Ports, Terminal, blocks
from tests.kit.gateways import LOOPBACK


def test_the_collector_of_the_page_takes_what_a_gateway_ships(tmp_path: Path) -> None:
    (block,) = (each for each in blocks("docs/shipping.md") if each.stays)
    terminal = Terminal(tmp_path, Ports(0, 0, 0))
    with terminal.running(block) as program:
        told = program.wait_for("collecting", START_S)
        port = re.findall(r"port=(\d+)", told)[0]
        name, token = (tmp_path / "tokens").read_text().split()
        assert name == "kitchen"
        (tmp_path / "token").write_text(token)
        with sealed_journal(tmp_path / "journal", segments=1) as journal:
            url = f"http://{LOOPBACK}:{port}"
            zone = open_zone(url, {}, str(tmp_path / "token"))
            shipper = Shipper(journal.folder, journal.manifest, zone, url)
            shipper.ship()
            assert shipper.statistics.failing == ""
            epoch = journal.epoch
    assert sorted(landed(tmp_path / "landing")) == [(epoch, number) for number in range(1, 11)]
