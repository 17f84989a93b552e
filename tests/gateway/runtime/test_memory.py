"""Memory that is free goes back to the system: in a process of its own, and as long as it runs."""

import asyncio
import subprocess
import sys
from contextlib import suppress

import pytest

from gateway.runtime import process

SMALL = """
from pyoxigraph import Literal
from gateway.runtime.process import _resident_bytes, give_back_memory, keep_heaps_together

keep_heaps_together()
begin = _resident_bytes()
held = [Literal("x" * 300) for _ in range(200_000)]
most = _resident_bytes() - begin
kept = held[::1000]  # scattered over all of the heap
del held
give_back_memory()
rest = _resident_bytes() - begin
assert most > 60_000_000, most
assert rest < most / 3, (rest, most)
"""

LARGE = """
from pyoxigraph import Literal
from gateway.runtime.process import _resident_bytes, keep_heaps_together

keep_heaps_together()
Literal("x" * 1_000_000)  # given back: glibc would take as large ones from the heap from now on
begin = _resident_bytes()
large, small = [], []
for _ in range(50):
    large.append(Literal("x" * 1_000_000))
    small.append(Literal("x" * 60_000))
assert _resident_bytes() - begin > 45_000_000
del large
assert _resident_bytes() - begin < 10_000_000
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is asked")
@pytest.mark.parametrize("program", [SMALL, LARGE])
def test_what_is_free_is_given_back(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


async def test_what_has_not_grown_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    mebibytes = iter((100, 90, 91, 93, 94, 90))  # a look; after giving back; two looks; a third
    given = []

    def resident() -> int:
        with suppress(StopIteration):
            return next(mebibytes) * 2**20
        raise asyncio.CancelledError

    monkeypatch.setattr(process, "_resident_bytes", resident)
    monkeypatch.setattr(process, "give_back_memory", lambda: given.append(1))
    monkeypatch.setattr(process, "_LOOK_S", 0.0)
    with pytest.raises(asyncio.CancelledError):
        await process.keep_memory_small()
    assert len(given) == 2
