"""The inbox pushes back on threads and on the event loop; nothing is dropped."""

import asyncio
import threading
from datetime import UTC, datetime

from adapters.message import Message
from gateway.inbox import Delivery, Inbox


def delivery(number: int) -> Delivery:
    return Delivery(Message(str(number), b"", datetime.now(UTC)), lambda _: None)


def topics(taken: list[Delivery]) -> list[str]:
    return [each.message.topic for each in taken]


def test_put_of_a_full_inbox_waits_until_there_is_room() -> None:
    inbox = Inbox(limit=2)
    done = threading.Event()

    def produce() -> None:
        for number in range(6):
            assert inbox.put(delivery(number))
        done.set()

    thread = threading.Thread(target=produce)
    thread.start()
    received: list[str] = []
    while len(received) < 6:
        taken = inbox.take(10)
        assert len(taken) <= 2
        received += topics(taken)
    assert done.wait(5)
    thread.join()
    assert received == [str(number) for number in range(6)]


async def test_put_soon_of_a_full_inbox_waits_without_blocking_the_loop() -> None:
    inbox = Inbox(limit=1)
    assert await inbox.put_soon(delivery(0))
    waiting = [asyncio.create_task(inbox.put_soon(delivery(number))) for number in (1, 2)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    assert topics(inbox.take(5)) == ["0"]
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert len(done) == 1
    assert len(inbox.take(5)) == 1
    assert await asyncio.gather(*waiting) == [True, True]


async def test_close_lets_what_is_in_it_out_and_nothing_more_in() -> None:
    inbox = Inbox(limit=1)
    inbox.put(delivery(0))
    waiting = asyncio.create_task(inbox.put_soon(delivery(1)))
    await asyncio.sleep(0)
    inbox.close()
    assert await waiting is False
    assert inbox.put(delivery(2)) is False
    assert topics(inbox.take(5)) == ["0"]
    assert inbox.take(5) == []
