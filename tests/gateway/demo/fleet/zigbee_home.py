"""A home of 35 Zigbee devices behind one bridge, for a day: what it says, and the truth of it.

The bridge repeats all that it knows of a device in each message, stamps `last_seen` when a device
is heard and not when it is told something, lists its devices anew when one is renamed, joins or
leaves, and publishes all it remembers when it has lost its broker. Sources: Zigbee2MQTT's
documentation of MQTT topics, groups, `cache_state`, `last_seen` and availability.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

from gateway.demo.fleet.acts import NETWORK, UNTIMED, Expected, Sent, StreamKey, When
from gateway.demo.fleet.channel import literal
from gateway.demo.fleet.device import GATEWAY_ID, MINTED, PROPERTIES, iso
from gateway.demo.fleet.simulated import START
from tests.gateway.demo.fleet.zigbee_devices import KINDS, LAMP, PLUG, Leaf, Value, exposes

BASE = "zigbee2mqtt"
CLIENT = "zigbee2mqtt"
DEVICES, GROUPS, STATE = (f"{BASE}/bridge/{name}" for name in ("devices", "groups", "state"))
MINUTES = 24 * 60

Act = Callable[[datetime], Iterable[Sent]]


@dataclass
class Thing:
    """A device, or a group: what is remembered of it, and when it was heard last.

    `heard` counts for each leaf the values that were told, each another one than before.
    """

    address: str
    name: str
    leaves: tuple[Leaf, ...]
    state: dict[str, Value] = field(default_factory=dict)
    last_seen: datetime | None = None
    heard: dict[str, tuple[int, Value]] = field(default_factory=dict)
    is_listed: bool = True

    @property
    def streams(self) -> dict[str, StreamKey]:
        """By leaf, in the gateway's names (docs/mappings.md)."""
        place = f"{BASE}/{self.address}"
        minted = f"{MINTED}{GATEWAY_ID}"
        return {
            leaf.member: (
                f"{minted}/sensor/{place}/{leaf.member}",
                f"{PROPERTIES}{leaf.quantity}",
                f"{minted}/feature/{place}",
            )
            for leaf in self.leaves
        }

    @property
    def topics(self) -> dict[str, str]:
        """The topic of each mapping that the gateway must have."""
        minted = f"{MINTED}{GATEWAY_ID}/mapping/{BASE}/{self.address}"
        return {f"{minted}/{leaf.member}": f"{BASE}/{self.name}" for leaf in self.leaves}

    def tell(self, **state: Value) -> Sent:
        """A message with all that is remembered; an `action` is told once, and not remembered."""
        action = state.pop("action", None)
        self.state |= state
        told = self.state if action is None else {**self.state, "action": action}
        when = UNTIMED if self.last_seen is None else When(self.last_seen, NETWORK)
        streams = self.streams
        seen = [
            self._seen(leaf, told[leaf.member], when)
            for leaf in self.leaves
            if told.get(leaf.member, "") != ""
        ]
        payload: dict[str, object] = dict(told)
        if self.last_seen is not None:
            payload["last_seen"] = iso(self.last_seen)
        alive = tuple(streams[leaf.member] for leaf in self.leaves if leaf.member in self.state)
        return Sent(CLIENT, f"{BASE}/{self.name}", _json(payload), tuple(seen), alive=alive)

    def is_there(self, *, online: bool) -> Sent:
        """The bridge's word on whether it answers."""
        streams = tuple(self.streams.values())
        alive, gone = (streams, ()) if online else ((), streams)
        payload = _json({"state": "online" if online else "offline"})
        topic = f"{BASE}/{self.name}/availability"
        return Sent(CLIENT, topic, payload, alive=alive, gone=gone, retain=True)

    def _seen(self, leaf: Leaf, value: Value, when: When) -> Expected:
        """The value that it has told before is the reading that it was."""
        number, before = self.heard.get(leaf.member, (0, None))
        if before is None or value != before or leaf.member == "action":
            number += 1
        self.heard[leaf.member] = (number, value)
        written = literal(leaf.observed(value))
        key = self.streams[leaf.member]
        return Expected(key, str(number), *written, leaf.unit, when.time, when.source)


class Home:
    """The day, drawn up from a seed; `at` gives what is said in a minute of it."""

    def __init__(self, seed: int = 0) -> None:
        self.dice = Random(f"home/{seed}")
        self.devices = list(_devices())
        self.lamps = Thing("group-1", "all lamps", _switched(LAMP), {"state": "OFF"})
        self.plugs = Thing("group-2", "all plugs", _switched(PLUG), {"state": "ON"})
        self.is_away = False
        self.orders: dict[int, Thing] = {}
        """When the gateway is to turn something on or off."""
        self._agenda: dict[int, list[Act]] = {}
        for device in self.devices:
            _ROUTINES[_kind(device)](self, device)
        self._at_times()

    @property
    def groups(self) -> Sequence[Thing]:
        """Both groups."""
        return (self.lamps, self.plugs)

    @property
    def topics(self) -> dict[str, str]:
        """The topic of each mapping that the gateway must have now."""
        every = (*self.devices, *self.groups)
        return {iri: topic for thing in every for iri, topic in thing.topics.items()}

    def at(self, minute: int, now: datetime) -> Iterator[Sent]:
        """What is said, in order."""
        acts = self._agenda.get(minute, ())
        for act in () if self.is_away and self.arrive not in acts else acts:
            yield from act(now)

    def arrive(self, now: datetime) -> Iterator[Sent]:
        """The bridge has a broker again: everything is listed, and all that is remembered told."""
        self.is_away = False
        yield Sent(CLIENT, STATE, _json({"state": "online"}), retain=True)
        yield self._listed_groups()
        yield self._listed()
        for thing in (*self.devices, *self.groups):
            if thing.is_listed:
                yield thing.is_there(online=True)
                if thing.state:
                    yield thing.tell()

    # what happens to a device

    def report(self, device: Thing, now: datetime, **state: Value) -> Iterator[Sent]:
        """The device is heard: it tells this, the bridge all that it knows."""
        if device.is_listed:
            device.last_seen = now
            yield device.tell(**state)

    def rename(self, device: Thing, name: str) -> Iterator[Sent]:
        """The bridge lists it by another name, and speaks of it there from now on."""
        device.name = name
        yield self._listed_groups() if device in self.groups else self._listed()
        yield device.is_there(online=True)

    def leave(self, device: Thing) -> Iterator[Sent]:
        """The device leaves the network."""
        device.is_listed = False
        yield self._listed(gone=tuple(device.streams.values()))

    def join(self, device: Thing) -> Iterator[Sent]:
        """It is there again, of the same address; it says nothing yet."""
        device.is_listed = True
        yield self._listed()

    def command(
        self, group: Thing, members: Iterable[Thing], state: dict[str, Value]
    ) -> Iterator[Sent]:
        """A group is told something: its members do it, and were not heard since.

        The bridge publishes what it takes for done, then the group's own state.
        """
        for member in members:
            if member.is_listed:
                yield member.tell(**state)
        group.state |= state
        yield group.tell()

    def obey(self, topic: str, payload: bytes) -> Iterator[Sent]:
        """A command comes by MQTT."""
        name = topic.removeprefix(f"{BASE}/").removesuffix("/set")
        thing = next(each for each in (*self.devices, *self.groups) if each.name == name)
        if thing is self.lamps:
            members = (each for each in self.devices if each.address in self._lit)
            return self.command(thing, members, json.loads(payload))
        return iter([thing.tell(**json.loads(payload))])

    def flip(self, contact: Thing, now: datetime) -> Iterator[Sent]:
        """Closed, open, closed: three readings of one `last_seen`."""
        for is_closed in (True, False, True):
            yield from self.report(contact, now, contact=is_closed)

    def press(self, button: Thing, now: datetime, word: str) -> Iterator[Sent]:
        """An action, and the empty one by which it is taken back."""
        yield from self.report(button, now, action=word)
        yield button.tell(action="")

    def lose(self, device: Thing) -> Iterator[Sent]:
        """The device does not answer any more."""
        yield device.is_there(online=False)

    def find(self, device: Thing) -> Iterator[Sent]:
        """It answers again."""
        yield device.is_there(online=True)

    def lose_bridge(self) -> Iterator[Sent]:
        """The bridge is gone: nothing of the home can be heard."""
        self.is_away = True
        gone = tuple(key for each in (*self.devices, *self.groups) for key in each.streams.values())
        yield Sent(CLIENT, STATE, _json({"state": "offline"}), gone=gone, retain=True)

    # when it happens

    def when(self, minute: int, act: Act) -> None:
        """Put something on the agenda; what is behind the end of the day does not happen."""
        if minute < MINUTES:
            self._agenda.setdefault(minute, []).append(act)

    def often(self, every: int, act: Act, jitter: int = 0) -> None:
        """The same again and again, from a minute of the seed's choice on."""
        for minute in range(1 + self.dice.randrange(every), MINUTES, every):
            self.when(minute + self.dice.randint(0, jitter), act)

    def once(self, minute: int, what: Callable[..., Iterable[Sent]], *given: Any) -> None:
        """What needs no time to be told."""
        self.when(minute, lambda _: what(*given))

    def _at_times(self) -> None:
        """What happens once or a few times."""
        of = {each.name: each for each in self.devices}
        self._lit = {of[f"lamp {number}"].address for number in (1, 2, 3)}
        self._command_groups(
            [of[f"lamp {number}"] for number in (1, 2, 3)],
            [of[f"plug {number}"] for number in (1, 2)],
        )
        for minute in (40, 333, 640, 1111, 1400):
            for number in range(1, 9):
                self.when(minute + number, partial(self.flip, of[f"contact {number}"]))
        # two windows change names, so that the topic of one is the other's
        self.once(200, self.rename, of["contact 1"], "somewhere")
        self.once(203, self.rename, of["contact 2"], "contact 1")
        self.once(206, self.rename, of["contact 1"], "contact 2")
        self.once(420, self.rename, of["climate 3"], "cellar/climate ü")
        self.once(800, self.rename, of["lamp 2"], "reading lamp")
        self.once(820, self.rename, self.lamps, "light")
        self.once(500, self.leave, of["motion 4"])
        self.once(560, self.join, of["motion 4"])
        self.once(1000, self.leave, of["plug 5"])
        for minute, name in ((250, "valve 1"), (750, "climate 5"), (1250, "contact 7")):
            self.once(minute, self.lose, of[name])
            self.once(minute + 20, self.find, of[name])
        self.once(1050, self.lose_bridge)
        self.when(1052, self.arrive)

    def _command_groups(self, lamps: Sequence[Thing], plugs: Sequence[Thing]) -> None:
        """By somebody else, and by the gateway: two of the times right behind its restart."""
        for number, minute in enumerate((65, 305, 424, 611, 992, 1210, 1300)):
            self.orders[minute] = self.lamps
            self.orders[minute + 1] = lamps[number % 3]
            word = "OFF" if number % 2 else "ON"
            self.once(minute + 7, self.command, self.plugs, plugs, {"state": word})
        self.once(700, self.command, self.lamps, lamps, {"brightness": 80, "color_temp": 370})

    def _listed(self, gone: tuple[StreamKey, ...] = ()) -> Sent:
        listed: list[dict[str, Any]] = [
            {"ieee_address": "0x00124b0000000000", "type": "Coordinator", "friendly_name": "stick"}
        ]
        listed += [_listed(each) for each in self.devices if each.is_listed]
        return Sent(CLIENT, DEVICES, _json(listed), gone=gone, retain=True)

    def _listed_groups(self) -> Sent:
        of = {each.name: each.address for each in _devices()}
        members = ([f"lamp {n}" for n in (1, 2, 3)], [f"plug {n}" for n in (1, 2)])
        listed = [
            {
                "id": number,
                "friendly_name": group.name,
                "members": [{"ieee_address": of[name], "endpoint": 1} for name in names],
            }
            for number, (group, names) in enumerate(zip(self.groups, members, strict=True), 1)
        ]
        return Sent(CLIENT, GROUPS, _json(listed), retain=True)


def _devices() -> Iterator[Thing]:
    number = 0
    for kind, (count, leaves) in KINDS.items():
        for index in range(1, count + 1):
            number += 1
            yield Thing(f"0x00158d{number:010x}", f"{kind} {index}", leaves)


def _kind(device: Thing) -> str:
    return next(kind for kind, (_, leaves) in KINDS.items() if leaves is device.leaves)


def _switched(leaves: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
    """What a group tells: what can be switched."""
    return tuple(leaf for leaf in leaves if leaf.group)


def _listed(device: Thing) -> dict[str, Any]:
    is_on_battery = any(leaf.member == "battery" for leaf in device.leaves)
    return {
        "ieee_address": device.address,
        "friendly_name": device.name,
        "type": "EndDevice",
        "power_source": "Battery" if is_on_battery else "Mains (single phase)",
        "definition": {"vendor": "v", "model": "m", "exposes": exposes(device.leaves)},
    }


def _contact(home: Home, device: Thing) -> None:
    def turn(now: datetime) -> Iterator[Sent]:
        is_closed = not device.state.get("contact", False)
        return home.report(device, now, contact=is_closed, linkquality=_link(home))

    def live(now: datetime) -> Iterator[Sent]:
        volts = 3000 - home.dice.randrange(4) * 5
        return home.report(device, now, contact=True, battery=97, voltage=volts, linkquality=60)

    home.when(1, live)
    home.often(120, turn, 50)
    home.often(55, lambda now: home.report(device, now, battery=97))


def _motion(home: Home, device: Thing) -> None:
    def moves(now: datetime) -> Iterator[Sent]:
        lux = home.dice.randrange(0, 400, 20)
        home.when(_minute(now) + 2, lambda later: home.report(device, later, occupancy=False))
        return home.report(device, now, occupancy=True, illuminance=lux)

    home.when(1, lambda now: home.report(device, now, occupancy=False, battery=88, linkquality=70))
    home.often(70, moves, 40)
    home.often(50, lambda now: home.report(device, now))


def _climate(home: Home, device: Thing) -> None:
    def measure(now: datetime) -> Iterator[Sent]:
        dice = home.dice
        return home.report(
            device,
            now,
            temperature=round(20 + dice.randint(-60, 60) / 100, 2),
            humidity=round(45 + dice.randint(-30, 30) / 10, 1),
            pressure=1000 + dice.randint(0, 3),
            battery=100 - _minute(now) // 600,
            linkquality=_link(home),
        )

    home.often(20, measure)


def _plug(home: Home, device: Thing) -> None:
    def measure(now: datetime) -> Iterator[Sent]:
        is_on = device.state.get("state", "ON") == "ON"
        watts = round(home.dice.choice((59.5, 60.0, 61.2)), 1) if is_on else 0
        counted = float(device.state.get("energy", 12.0)) + watts / 6000
        volts = 228 + home.dice.randrange(5)
        state: Mapping[str, Value] = {"state": "ON" if is_on else "OFF", "linkquality": 130}
        return home.report(
            device, now, power=watts, energy=round(counted, 2), voltage=volts, **state
        )

    home.often(12, measure)


def _lamp(home: Home, device: Thing) -> None:
    def turn(now: datetime) -> Iterator[Sent]:
        is_on = device.state.get("state") == "ON"
        home.when(_minute(now) + 1, lambda later: home.report(device, later))
        return iter([device.tell(state="OFF" if is_on else "ON", brightness=254)])

    def join(now: datetime) -> Iterator[Sent]:
        return home.report(device, now, state="OFF", brightness=120, color_temp=250, linkquality=9)

    home.when(1, join)
    home.often(150, turn, 60)


def _blind(home: Home, device: Thing) -> None:
    def move(now: datetime) -> Iterator[Sent]:
        to = 0 if device.state.get("position") == 100 else 100
        for position in (30, 60, to):
            yield from home.report(
                device, now, state="OPEN" if position else "CLOSE", position=position
            )

    home.when(1, lambda now: home.report(device, now, state="OPEN", position=100, linkquality=44))
    home.often(180, move, 60)


def _button(home: Home, device: Thing) -> None:
    def press(now: datetime) -> Iterator[Sent]:
        return home.press(device, now, home.dice.choice(("single", "double", "hold")))

    home.when(1, lambda now: home.report(device, now, battery=100, linkquality=30))
    home.often(90, press)


def _valve(home: Home, device: Thing) -> None:
    def measure(now: datetime) -> Iterator[Sent]:
        celsius = round(19 + home.dice.randint(0, 20) / 10, 1)
        return home.report(device, now, local_temperature=celsius, battery=80, linkquality=77)

    def set_point(now: datetime) -> Iterator[Sent]:
        del now
        celsius = home.dice.choice((17, 19.5, 21))
        yield device.tell(occupied_heating_setpoint=celsius, system_mode="heat")
        yield device.tell(system_mode=home.dice.choice(("off", "auto")))

    home.when(1, measure)
    home.often(25, measure)
    home.often(200, set_point, 30)


_ROUTINES: dict[str, Callable[[Home, Thing], None]] = {
    "contact": _contact,
    "motion": _motion,
    "climate": _climate,
    "plug": _plug,
    "lamp": _lamp,
    "blind": _blind,
    "button": _button,
    "valve": _valve,
}


def _minute(now: datetime) -> int:
    return int((now - START).total_seconds()) // 60


def _link(home: Home) -> int:
    return 60 + home.dice.randrange(3)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
