"""Which cores threads run on."""

import os
import threading

import pytest

from gateway.runtime.process import every_core, one_core

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        not hasattr(os, "sched_setaffinity"), reason="this system has no core affinity"
    ),
]


def test_threads_started_meanwhile_share_the_core_but_those_that_want_every_core() -> None:
    before = os.sched_getaffinity(0)
    seen: list[set[int]] = []

    def look() -> None:
        seen.append(os.sched_getaffinity(0))
        every_core()
        seen.append(os.sched_getaffinity(0))

    with one_core():
        own = os.sched_getaffinity(0)
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert len(own) == 1
    assert seen == [own, before]
    assert os.sched_getaffinity(0) == before
