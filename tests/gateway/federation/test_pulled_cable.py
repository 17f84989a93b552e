"""Two gateways with certificates in networks of their own, and the cable between them pulled."""

import json
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.gateway.federation.two_pis import HOME, PER_S, SOURCE, Client, Pi, Writer, check, until
from tests.kit.gateways import free_port
from tests.kit.namespaces import cabled

pytest.importorskip("zenoh", reason="the extra federation is not installed")

pytestmark = [pytest.mark.end_to_end, pytest.mark.alone]


def test_a_pulled_cable_costs_time_alone(tmp_path: Path) -> None:
    """For less and for more than the lease of ten seconds."""
    with ExitStack() as stack:
        cable = stack.enter_context(cabled())
        source, home = (
            Pi(name, tmp_path / name, host, space)
            for name, host, space in zip((SOURCE, HOME), cable.hosts, cable.ends, strict=True)
        )
        via, join_port = f"{source.host}:{source.listen}", free_port()
        for each in (source, home):
            each.write(via, each.listen, join_port)
        codes = json.loads(source.type("create", "house", "--json"))["codes"]
        stack.enter_context(source.running())
        home.join(codes[0], f"{source.host}:{join_port}")
        stack.enter_context(home.running())
        until(source.hears_all)
        until(home.hears_all)
        client = stack.enter_context(Client(home))
        with Writer(source) as writer:
            for seconds in (4, 14):
                time.sleep(1)
                cable.pull()
                before = len(client.events)
                time.sleep(seconds)
                assert len(client.events) <= before + PER_S, "it came by another way"
                cable.plug()
                stated = len(writer.stated)
                until(partial(client.has, stated))
        check(writer, client)
