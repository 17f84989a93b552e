"""The inbox pushes back on threads and on the event loop; nothing is dropped."""

import asyncio
from datetime import UTC, datetime

from adapters.values.message import Message
from gateway.ingest.inbox import Delivery, Inbox


def delivery(number: int) -> Delivery:
    return Delivery(Message(str(number), b"", datetime.now(UTC)), lambda _: None)


def topics(taken: list[Delivery]) -> list[str]:
    return [each.message.topic for each in taken]


def test_offer_takes_what_there_is_room_for() -> None:
    inbox = Inbox(limit=2)
    assert inbox.offer([delivery(number) for number in range(5)]) == 2
    assert inbox.offer([delivery(9)]) == 0
    assert topics(inbox.take(1)) == ["0"]
    assert inbox.offer([delivery(number) for number in (2, 3)]) == 1
    assert topics(inbox.take(5)) == ["1", "2"]


async def test_offer_does_not_overtake_who_waits() -> None:
    inbox = Inbox(limit=1)
    inbox.offer([delivery(0)])
    waiting = asyncio.create_task(inbox.put_soon(delivery(1)))
    await asyncio.sleep(0)
    inbox._deliveries.clear()  # room, which nobody has given to who waits yet
    assert inbox.offer([delivery(2)]) == 0
    inbox.offer([])
    inbox.close()
    assert await waiting is False


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
    inbox.offer([delivery(0)])
    waiting = asyncio.create_task(inbox.put_soon(delivery(1)))
    await asyncio.sleep(0)
    inbox.close()
    assert await waiting is False
    assert inbox.offer([delivery(2)]) == 0
    assert topics(inbox.take(5)) == ["0"]
    assert inbox.take(5) == []
