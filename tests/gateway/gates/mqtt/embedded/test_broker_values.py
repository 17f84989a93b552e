"""Retained messages, the acceptance window, and PUBLISH on the wire, without a socket."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadRequestError
from gateway.gates.mqtt.embedded.acceptance import AcceptanceWindow
from gateway.gates.mqtt.embedded.frames import (
    Frame,
    Publish,
    decode_publish,
    encode_publish,
    read_frame,
)
from gateway.gates.mqtt.embedded.retained import RetainedMessages

ANY_BYTES = 1_000_000


def all_of(retained: RetainedMessages) -> list[bytes]:
    return [kept.payload for kept in retained.matching(lambda _: True)]


def test_retained_message_is_replaced_and_removed() -> None:
    retained = RetainedMessages(max_topics=2, max_bytes=10)
    assert retained.keep(Publish("a", b"1"))
    assert retained.keep(Publish("a", b"2"))
    assert all_of(retained) == [b"2"]
    assert retained.keep(Publish("a", b""))
    assert all_of(retained) == []


def test_retained_bytes_are_bounded_and_given_back() -> None:
    retained = RetainedMessages(max_topics=9, max_bytes=10)
    assert retained.keep(Publish("a", bytes(6)))
    assert not retained.keep(Publish("b", bytes(6)))
    assert retained.keep(Publish("a", bytes(10)))
    assert retained.keep(Publish("a", b""))
    assert retained.keep(Publish("b", bytes(10)))


def test_retained_message_without_room_does_not_leave_the_old_one() -> None:
    retained = RetainedMessages(max_topics=9, max_bytes=10)
    retained.keep(Publish("a", b"old"))
    assert not retained.keep(Publish("a", bytes(11)))
    assert all_of(retained) == []


class Window:
    """An `AcceptanceWindow` of two, and what it did."""

    def __init__(self) -> None:
        self.settled: list[tuple[str, bool]] = []
        self.failed: list[str] = []
        self.window = AcceptanceWindow(
            2,
            lambda publish, accepted: self.settled.append((publish.topic, accepted)),
            lambda publish, _: self.failed.append(publish.topic),
        )

    def admit(self, topic: str) -> asyncio.Future[None]:
        future = asyncio.get_running_loop().create_future()
        self.window.admit(Publish(topic, b""), future)
        return future


async def test_window_settles_in_the_order_of_admission() -> None:
    one = Window()
    first, second = one.admit("1"), one.admit("2")
    one.window.admit(Publish("3", b""), None)
    second.set_result(None)
    await asyncio.sleep(0)
    assert one.settled == []
    first.set_result(None)
    await one.window.drain(1.0)
    assert one.settled == [("1", True), ("2", True), ("3", False)]


async def test_window_failure_gives_up_what_is_behind() -> None:
    one = Window()
    first, second, third = one.admit("1"), one.admit("2"), one.admit("3")
    second.set_exception(OSError("disk"))
    third.set_result(None)
    first.set_result(None)
    await one.window.drain(1.0)
    assert (one.settled, one.failed) == ([("1", True)], ["2"])


async def test_window_takes_a_cancelled_acceptance_for_a_failure() -> None:
    one = Window()
    one.admit("1").cancel()
    await one.window.drain(1.0)
    assert (one.settled, one.failed) == ([], ["1"])


async def test_window_drain_cancels_what_takes_too_long() -> None:
    one = Window()
    late = one.admit("1")
    await one.window.drain(0.01)
    assert late.cancelled()
    assert (one.settled, one.failed) == ([], [])


async def test_window_has_room_again_once_the_oldest_is_settled() -> None:
    one = Window()
    first, _ = one.admit("1"), one.admit("2")
    waiting = asyncio.create_task(one.window.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    first.set_result(None)
    await asyncio.wait_for(waiting, 1.0)
    one.window.abandon()


TOPICS = st.text(st.characters(exclude_characters="+#\0", codec="utf-8"), min_size=1, max_size=9)


@given(TOPICS, st.binary(max_size=300), st.sampled_from([0, 1, 2]), st.booleans(), st.booleans())
async def test_publish_survives_the_wire(
    topic: str, payload: bytes, qos: int, retain: bool, duplicate: bool
) -> None:
    packet_id = 513 if qos else 0
    publish = Publish(topic, payload, qos, retain, duplicate, packet_id)
    reader = asyncio.StreamReader()
    reader.feed_data(encode_publish(publish, packet_id, duplicate))
    assert decode_publish(await read_frame(reader, ANY_BYTES)) == publish


@given(st.integers(0, 15), st.binary(max_size=20))
def test_any_publish_body_decodes_or_is_refused(flags: int, body: bytes) -> None:
    try:
        publish = decode_publish(Frame(3, flags, body))
    except BadRequestError:
        return
    assert len(publish.topic.encode()) + len(publish.payload) <= len(body)


@pytest.mark.parametrize("length", [0, 127, 128, 16_383, 16_384, 300_000])
async def test_frame_length_is_read_at_each_size(length: int) -> None:
    reader = asyncio.StreamReader()
    publish = Publish("t", bytes(length))
    reader.feed_data(encode_publish(publish, 0, duplicate=False))
    frame = await read_frame(reader, ANY_BYTES)
    assert len(frame.body) == length + 3
