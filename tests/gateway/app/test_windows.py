"""Windows over observations in a running gateway, by simulated clocks."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from gateway.engine import SubscribeRequest
from gateway.errors import ForbiddenError, WindowFullError
from gateway.rdf.namespaces import OBSERVATIONS
from gateway.rdf.rights import Rights
from gateway.scheduler import bits
from gateway.windows import Window
from tests.gateway.app.windowed_gateway import (
    ALL,
    LAST,
    MAPPED,
    STUFFY,
    TEMPERATURE,
    Hand,
    answer,
    last,
    windowed,
)
from tests.kit.gateways import MAPPINGS, Watch, mapping, update, write_profile


async def test_rooms_are_stuffy_by_their_mean_of_ten_minutes_while_nobody_is_in(
    tmp_path: Path,
) -> None:
    """The worked example of docs/windows.md."""
    async with windowed(tmp_path) as house:
        told = await house.watch(STUFFY, last(property=[TEMPERATURE]))
        assert told.notifications[0].windows is not None
        await house.tell("a", "t", 28)
        await house.pass_(300)
        await house.tell("a", "t", 34)
        await told.until(lambda: answer(told) == {("urn:room:a", "31"): 1})
        await house.tell("a", "o", value=True)
        await told.until(lambda: not answer(told))
        await house.tell("a", "o", value=False)
        await told.until(lambda: answer(told) == {("urn:room:a", "31"): 1})
        await house.pass_(300)  # and the 28 is ten minutes old
        await told.until(lambda: answer(told) == {("urn:room:a", "34"): 1})
        await house.pass_(300)
        await told.until(lambda: not answer(told))
        numbers = [each.sequence for each in told.notifications]
        assert numbers == list(range(len(numbers)))


async def test_what_comes_too_late_for_the_store_corrects_what_was_told(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        told = await house.watch(STUFFY, last(property=[TEMPERATURE]))
        await house.tell("a", "t", 40)
        await told.until(lambda: answer(told) == {("urn:room:a", "40"): 1})
        await house.tell("a", "t", 30, before_s=60)
        await told.until(lambda: answer(told) == {("urn:room:a", "35"): 1})
        await house.tell("a", "t", 30, before_s=60)  # told twice, and a duplicate
        await house.tell("a", "t", 10, before_s=700)  # before the window
        await house.tell("a", "t", 20, before_s=30)
        await told.until(lambda: answer(told) == {})
        assert house.gateway.statistics()["duplicates"] == 1


async def test_numbers_of_another_unit_are_not_in_a_window_with_those_before(
    tmp_path: Path,
) -> None:
    known = mapping("t", "room/+/t", selector="$.v", time="$.at", format="json", unit="Cel")
    async with windowed(tmp_path, [known]) as house:
        told = await house.watch(ALL, last())
        await house.tell("a", "t", 20)
        await told.until(lambda: answer(told) == {("20",): 1})
        await update(
            house.gateway,
            f"""DELETE {{ GRAPH <{MAPPINGS}> {{ ?m gw:unit ?unit }} }}
            INSERT {{ GRAPH <{MAPPINGS}> {{ ?m gw:unit unit:DEG_F }} }}
            WHERE {{ GRAPH <{MAPPINGS}> {{ ?m gw:unit ?unit }} }}""",
        )
        await house.tell("a", "t", 70)
        await told.until(lambda: answer(told) == {("70",): 1})
        await house.tell("a", "t", 71)
        await told.until(lambda: answer(told) == {("70",): 1, ("71",): 1})


async def test_a_mapping_has_a_stream_of_its_own(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        told = await house.watch(ALL, {LAST: Window("urn:mapping:o", elements=2)})
        await house.tell("a", "t", 20)
        await house.tell("a", "o", value=True)
        await house.tell("b", "o", value=False)
        await house.tell("c", "o", value=False)
        await told.until(lambda: answer(told) == {("false",): 2})


async def test_observations_of_one_message_enter_in_one_step(tmp_path: Path) -> None:
    both = [
        mapping("t", "room/+/t", selector="$.v", time="$.at", format="json"),
        mapping("h", "room/+/t", selector="$.v", time="$.at", format="json"),
    ]
    async with windowed(tmp_path, both) as house:
        told = await house.watch(ALL, last())
        await house.tell("a", "t", 20)
        await told.until(lambda: answer(told) == {("20",): 2})
        assert len(told.notifications) == 2


async def test_a_window_begins_with_what_came_before(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        await house.tell("a", "t", 40)
        await house.pass_(500)
        await house.tell("a", "t", 36)
        await house.tell("b", "t", 20)
        told = await house.watch(STUFFY, last(property=[TEMPERATURE]))
        assert answer(told) == {("urn:room:a", "38"): 1}
        (info,) = (told.notifications[0].windows or {}).values()
        assert (info.elements, info.complete) == (3, True)
        await house.pass_(100)
        await told.until(lambda: answer(told) == {("urn:room:a", "36"): 1})
        counted = await house.watch(ALL, {LAST: Window(OBSERVATIONS, elements=2)})
        assert answer(counted) == {("36",): 1, ("20",): 1}


async def test_a_window_that_is_being_filled_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bits, "_FIRST", 1)
    monkeypatch.setattr(bits, "_MOST", 1)
    async with windowed(tmp_path) as house:
        for value in range(20):
            await house.tell("a", "t", value)
        streams = house.gateway.scheduler.engine.windowed.streams
        first = asyncio.create_task(house.watch(ALL, last()))
        while not streams.is_open(last()[LAST]):
            await asyncio.sleep(0)
        second = await house.watch(f"{ALL} LIMIT 100", last())
        assert answer(second) == answer(await first)
        assert len(answer(second)) == 20


async def test_a_restart_and_a_lost_journal(tmp_path: Path) -> None:
    hand = Hand()
    window = last(property=[TEMPERATURE])
    async with windowed(tmp_path, hand=hand, kind="disk") as house:
        await house.tell("a", "t", 40)
        await house.pass_(300)
        await house.tell("a", "t", 36)
    async with windowed(tmp_path, hand=hand, kind="disk") as house:
        told = await house.watch(STUFFY, window)
        assert answer(told) == {("urn:room:a", "38"): 1}
        (info,) = (told.notifications[0].windows or {}).values()
        assert info.complete
        await house.tell("a", "t", 32)
        await told.until(lambda: answer(told) == {("urn:room:a", "36"): 1})
    shutil.rmtree(tmp_path / "data" / "journal")
    async with windowed(tmp_path, hand=hand, kind="disk") as house:
        told = await house.watch(STUFFY, window)
        assert answer(told) == {}
        (info,) = (told.notifications[0].windows or {}).values()
        assert not info.complete
        await house.tell("a", "t", 33)
        await told.until(lambda: answer(told) == {("urn:room:a", "33"): 1})
        await house.pass_(601)
        await house.tell("a", "t", 35)
        await told.until(lambda: answer(told) == {("urn:room:a", "35"): 1})
        again = await house.watch(ALL, window)
        (info,) = (again.notifications[0].windows or {}).values()
        assert info.complete


async def test_a_declared_window_is_had_by_name_until_it_goes(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        gateway = house.gateway
        await house.tell("a", "t", 40)
        await update(
            gateway,
            f"""INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <{LAST}> a gw:Window ;
            gw:windowStream gw:observations ; gw:windowProperty <{TEMPERATURE}> ;
            gw:windowRange "PT1H" }} }}""",
        )
        assert gateway.stages.storage.journal.space.keep_s == 3900
        told = await house.watch(STUFFY)
        assert answer(told) == {("urn:room:a", "40"): 1}
        await house.tell("a", "t", 36)
        await told.until(lambda: answer(told) == {("urn:room:a", "38"): 1})
        await update(
            gateway,
            f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <{LAST}> gw:windowRange ?range }} }} ;"
            f'INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <{LAST}> gw:windowRange "PT2H" }} }}',
        )
        assert "another one now" in str(house.ended[0])
        again = await house.watch(STUFFY)
        assert answer(again) == {("urn:room:a", "38"): 1}
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <{LAST}> ?p ?o }} }}")
        assert "declared no more" in str(house.ended[1])
        assert gateway.stages.storage.journal.space.keep_s == 120


async def test_a_profile_declares_windows_which_go_with_it(tmp_path: Path) -> None:
    declared = {"id": LAST, "stream": "gw:observations", "elements": 2}
    async with windowed(tmp_path, windows=[declared]) as house:
        await house.tell("a", "t", 40)
        told = await house.watch(ALL)
        assert answer(told) == {("40",): 1}
        write_profile(tmp_path, MAPPED)
        house.gateway.reload_profiles()
        async with asyncio.timeout(20):
            while not house.ended:
                await asyncio.sleep(0.05)
        assert "declared no more" in str(house.ended[0])


async def test_who_may_not_read_the_observations_has_no_window_of_them(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        rights = Rights(read=frozenset({NamedNode("urn:mine")}))
        request = SubscribeRequest(ALL, rights=rights, windows=tuple(last().items()))
        with pytest.raises(ForbiddenError):
            await house.gateway.scheduler.subscribe(request, sink=Watch())


async def test_a_clock_that_is_put_forward_takes_the_gateways_times_along(tmp_path: Path) -> None:
    known = mapping("t", "room/+/t", format="json", selector="$.v")
    async with windowed(tmp_path, [known]) as house:
        told = await house.watch(ALL, last())
        await house.tell("a", "t", 20)
        await told.until(lambda: answer(told) == {("20",): 1})
        house.hand.now += timedelta(hours=5)
        await house.pass_(599)
        await house.tell("a", "t", 21)
        await told.until(lambda: answer(told) == {("20",): 1, ("21",): 1})
        assert house.gateway.scheduler.engine.windowed.clock.jumps == 1
        await house.pass_(1)
        await told.until(lambda: answer(told) == {("21",): 1})


async def test_a_past_that_is_too_much_ends_its_own_subscription_alone(tmp_path: Path) -> None:
    async with windowed(tmp_path) as house:
        for value in range(5):
            await house.tell("a", "t", value)
        with pytest.raises(WindowFullError):
            await house.watch(ALL, last(limit=3))
        told = await house.watch(ALL, last(limit=3, overflow="oldest"))
        assert answer(told) == {("2",): 1, ("3",): 1, ("4",): 1}
        (info,) = (told.notifications[0].windows or {}).values()
        assert not info.complete
        assert [
            name
            for each in house.gateway.scheduler.engine.windowed.statuses()
            for name in each.names
        ] == [LAST]
