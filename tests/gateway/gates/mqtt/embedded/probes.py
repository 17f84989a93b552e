"""One probe for each defect of amqtt 0.12.1: True where the broker under test has it."""

from collections.abc import Awaitable, Callable

from tests.gateway.gates.mqtt.embedded.brokers import SETTINGS, Subject, eventually
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    PUBLISH,
    SUBACK,
    SUBSCRIBE,
    RawClient,
    Received,
    Will,
    packet,
    publish_packet,
    received,
    text,
)

Probe = Callable[[Subject], Awaitable[bool]]
QUIET_S = 0.5


async def alice(subject: Subject, client_id: str = "alice-1", clean: bool = True) -> RawClient:
    return await RawClient.connect(subject.port, client_id, "alice", "a-secret", clean=clean)


async def bob(subject: Subject, client_id: str = "bob-1", will: Will | None = None) -> RawClient:
    return await RawClient.connect(subject.port, client_id, "bob", "b-secret", will=will)


async def hears(client: RawClient, payload: bytes, timeout_s: float = QUIET_S) -> bool:
    """Whether a message with this payload comes in time."""
    try:
        while (found := await client.next_packet(timeout_s)) is not None:
            if found.kind == PUBLISH and received(found).payload == payload:
                return True
    except TimeoutError:
        return False
    return False


async def retained_message_leaks(subject: Subject) -> bool:
    async with await alice(subject) as owner:
        await owner.publish("secret/x", b"code", retain=True)
        await owner.subscribe("secret/#", 1)
        async with await bob(subject) as spy:
            spy.send(packet(SUBSCRIBE, 2, b"\0\1" + text("secret/#") + b"\1"))
            found = await spy.next_packet()
            while found is not None and found.kind != SUBACK:
                if found.kind == PUBLISH:
                    return True
                found = await spy.next_packet()
            return any(leak.kind == PUBLISH for leak in await spy.ping())


async def wrong_password_takes_session(subject: Subject) -> bool:
    async with await alice(subject, "victim", clean=False) as victim:
        await victim.subscribe("t", 0)
        async with await RawClient.connect(subject.port, "victim", "alice", "wrong") as intruder:
            assert intruder.code == 5
        async with await bob(subject) as sender:
            await sender.publish("t", b"still here")
        return not await hears(victim, b"still here")


async def refused_login_stays(subject: Subject) -> bool:
    for number in range(5):
        async with await RawClient.connect(subject.port, f"r{number}", "bob", "wrong") as client:
            assert await client.closed()
    return subject.sessions() > 0


async def silent_client_lives(subject: Subject) -> bool:
    async with await alice(subject) as observer:
        await observer.subscribe("gone")
        silent = await RawClient.connect(
            subject.port, "silent", "bob", "b-secret", keep_alive=1, will=Will("gone", b"bob")
        )
        async with silent:
            return not await hears(observer, b"bob", timeout_s=2.2)


async def unacknowledged_is_lost(subject: Subject) -> bool:
    async with await bob(subject) as sender:
        async with await alice(subject, "device", clean=False) as device:
            await device.subscribe("t", 1)
            await sender.publish("t", b"1")
            first = await device.next_message()
        connected = await _reconnected(subject)
        async with connected as device:
            await sender.publish("t", b"marker")
            repeated = await device.messages_until(b"marker")
    expected = Received("t", b"1", 1, retain=False, duplicate=True, packet_id=first.packet_id)
    return repeated != [expected]


async def _reconnected(subject: Subject) -> RawClient:
    """The device again, once the broker has noticed that it left."""
    async with await alice(subject, "watch"):
        pass
    return await alice(subject, "device", clean=False)


async def quality_is_raised(subject: Subject) -> bool:
    async with await alice(subject) as device, await bob(subject) as sender:
        await device.subscribe("t", 1)
        sender.send(publish_packet("t", b"x", qos=0))
        return (await device.next_message()).qos != 0


async def queued_message_looks_retained(subject: Subject) -> bool:
    device = await alice(subject, "device", clean=False)
    await device.subscribe("t", 1)
    await device.disconnect()
    async with await bob(subject) as sender:
        await sender.publish("t", b"x")
    async with await alice(subject, "device", clean=False) as device:
        return (await device.next_message()).retain


async def window_is_unlimited(subject: Subject) -> bool:
    count = 3 * SETTINGS.max_inflight
    async with await alice(subject) as device, await bob(subject) as sender:
        await device.subscribe("t", 1)
        for number in range(count):
            await sender.publish("t", b"%d" % number, packet_id=number + 1)
        arrived = 0
        try:
            while await device.next_packet(QUIET_S) is not None:
                arrived += 1
        except TimeoutError:
            return arrived > SETTINGS.max_inflight
    return False


async def dollar_topic_leaves_zombie(subject: Subject) -> bool:
    async with await alice(subject) as device, await bob(subject) as sender:
        await device.subscribe("t")
        await sender.publish("$private/x", b"x", packet_id=1)
        await sender.publish("t", b"y", packet_id=2)
        return not await hears(device, b"y")


async def abandoned_session_stays(subject: Subject) -> bool:
    """To be run with a clock far ahead of the one at which the client left."""
    await (await alice(subject, "abandoned", clean=False)).disconnect()
    return not await eventually(lambda: subject.sessions() == 0, QUIET_S * 10)


async def silence_before_connect_is_borne(subject: Subject) -> bool:
    async with await RawClient.open(subject.port) as client:
        return not await client.closed(SETTINGS.connect_timeout_s + QUIET_S)


async def any_packet_length_is_read(subject: Subject) -> bool:
    async with await bob(subject) as client:
        client.send(b"\x82\xff\xff\xff\x7f")
        return not await client.closed(QUIET_S)


async def shared_subscription_is_granted(subject: Subject) -> bool:
    async with await bob(subject) as client:
        return await client.subscribe("$share/group/t") != 0x80


async def repeated_subscription_keeps_quality(subject: Subject) -> bool:
    async with await bob(subject) as client:
        await client.subscribe("t", 0)
        await client.subscribe("t", 1)
        client.send(publish_packet("t", b"x", qos=1))
        found = [await client.next_packet(), await client.next_packet()]
        return [received(each).qos for each in found if each and each.kind == PUBLISH] != [1]


PROBES: dict[str, Probe] = {
    "D1-retained-message-leaks": retained_message_leaks,
    "D2-wrong-password-takes-session": wrong_password_takes_session,
    "D3-refused-login-stays": refused_login_stays,
    "D4-silent-client-lives": silent_client_lives,
    "D5-unacknowledged-is-lost": unacknowledged_is_lost,
    "D6-quality-is-raised": quality_is_raised,
    "D7-queued-message-looks-retained": queued_message_looks_retained,
    "D8-window-is-unlimited": window_is_unlimited,
    "D9-dollar-topic-leaves-zombie": dollar_topic_leaves_zombie,
    "D10-abandoned-session-stays": abandoned_session_stays,
    "D11-silence-before-connect-is-borne": silence_before_connect_is_borne,
    "any-packet-length-is-read": any_packet_length_is_read,
    "shared-subscription-is-granted": shared_subscription_is_granted,
    "repeated-subscription-keeps-quality": repeated_subscription_keeps_quality,
}
