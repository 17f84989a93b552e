"""What families remember: it outlives a new registry, is bounded, and belongs to one Memory."""

from datetime import UTC, datetime

import pytest

from adapters.availability import KnownStreams
from adapters.discovery import Discovery
from adapters.formats.homeassistant.template import ValueTemplate
from adapters.formats.homeassistant.tokens import TemplateError
from adapters.formats.homie.devices import MAX_ALL_PROPERTIES, Devices
from adapters.registry import Registry
from adapters.values.earlier_streams import EarlierStreams
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.notice import Heartbeat, Liveness, UnitChange
from adapters.values.observation import XSD, Observation
from adapters.values.payload import Payload
from adapters.values.repetition import LastResults
from adapters.values.series import SeriesUnits
from adapters.values.units import UNIT

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
MAPPING = Mapping(
    "urn:m", "zigbee2mqtt/+", "zigbee2mqtt", "urn:{1}", "urn:p", "urn:f", "temperature"
)


def message(topic: str, payload: bytes) -> Message:
    return Message(topic, payload, NOW)


def test_memory_outlives_a_new_registry() -> None:
    memory = Memory()
    state = message("zigbee2mqtt/a", b'{"temperature":21.5}')
    first, _ = Registry.compile([MAPPING], memory)
    assert len(first.decode(state).observations) == 1
    second, _ = Registry.compile([MAPPING], memory)
    repeated = second.decode(state)
    assert repeated.observations == ()
    assert repeated.notices == (Heartbeat(("urn:a", "urn:p", "urn:f")),)
    stranger, _ = Registry.compile([MAPPING])
    assert len(stranger.decode(state).observations) == 1


def test_retained_value_is_no_sign_of_life_and_hides_no_later_one() -> None:
    registry, _ = Registry.compile([MAPPING])
    kept = Message("zigbee2mqtt/a", b'{"temperature":21.5}', NOW, retained=True)
    seeds = registry.decode(kept).observations
    assert [seen.circumstances.seed for seen in seeds] == [True]
    assert len(registry.decode(message(kept.topic, kept.payload)).observations) == 1
    again = registry.decode(kept)
    assert (again.observations, again.notices, again.faults) == ((), (), ())


def test_last_result_is_known_again_as_the_store_tells_it() -> None:
    def seen(lexical: str, datatype: str = "decimal", unit: str | None = None) -> Observation:
        return Observation("urn:a", "urn:p", "urn:f", lexical, XSD + datatype, unit)

    last = LastResults()
    last.remember(seen("21.5", unit=UNIT + "UNITLESS"))
    assert last.is_repeated(seen("21.50"))
    assert not last.is_repeated(seen("21.50", unit=UNIT + "DEG_C"))
    assert not last.is_repeated(seen("21.50", "string"))
    last.remember(seen("95"))
    last.refuse(seen("95"))
    assert not last.is_repeated(seen("95"))
    assert last.is_repeated(seen("21.5"))
    last.refuse(seen("7"))
    assert last.is_repeated(seen("21.5"))


def test_unit_of_a_homie_stream_outlives_the_description() -> None:
    memory = Memory()
    memory.of(SeriesUnits).recall(("urn:b", "urn:p", "urn:f"), UNIT + "DEG_C")
    mapping = Mapping("urn:m", "homie/5/b/n/t", "homie", "urn:b", "urn:p", "urn:f")
    registry, _ = Registry.compile([mapping], memory)
    (seen,) = registry.decode(message("homie/5/b/n/t", b"62")).observations
    assert seen.unit == UNIT + "DEG_C"
    told = b'{"nodes":{"n":{"properties":{"t":{"datatype":"float"}}}}}'
    registry.decode(message("homie/5/b/$description", told))
    (seen,) = registry.decode(message("homie/5/b/n/t", b"62")).observations
    assert seen.unit is None


def test_homie_description_counts_though_no_mapping_knew_its_topic() -> None:
    memory = Memory()
    described = b'{"nodes":{"n":{"properties":{"mode":{"datatype":"enum","format":"eco,warm"}}}}}'
    empty, _ = Registry.compile([], memory)
    heard = empty.decode(message("homie/5/b/$description", described))
    assert not heard.matched
    assert heard.faults == ()
    mapping = Mapping("urn:m", "homie/5/b/n/mode", "homie", "urn:b", "urn:p", "urn:f")
    registry, _ = Registry.compile([mapping], memory)
    (seen,) = registry.decode(message("homie/5/b/n/mode", b"eco")).observations
    assert (seen.lexical, seen.datatype) == ("eco", XSD + "string")
    assert [
        fault.reason.value for fault in registry.decode(message("homie/5/b/n/mode", b"hot")).faults
    ] == ["not_a_value"]
    stranger, _ = Registry.compile([mapping])
    assert stranger.decode(message("homie/5/b/n/mode", b"eco")).observations == ()


def test_homie_descriptions_are_bounded() -> None:
    memory = Memory()
    registry, _ = Registry.compile([], memory)
    told = ",".join(f'"p{number}":{{"datatype":"float"}}' for number in range(600))
    described = f'{{"nodes":{{"n":{{"properties":{{{told}}}}}}}}}'.encode()
    for number in range(150):
        registry.decode(message(f"homie/5/d{number}/$description", described))
    devices = memory.of(Devices)
    known = [devices.known(f"homie/5/d{number}") for number in range(150)]
    assert sum(len(each.properties) for each in known if each) <= MAX_ALL_PROPERTIES
    assert known[-1] is not None
    assert len(known[-1].properties) == 500


def test_availability_topic_of_any_mapping_is_heard() -> None:
    bare = Mapping(
        "urn:m", "a/+/t", "scalar", "urn:{1}", "urn:p", "urn:f", availability_topic="a/+/lwt"
    )
    registry, errors = Registry.compile([bare])
    assert not errors
    assert registry.topic_filters == {"a/+/t", "a/+/lwt"}
    decoded = registry.decode(message("a/x/lwt", b"offline"))
    assert decoded.notices == (Liveness(("urn:x", "urn:p", "urn:f"), False),)


def test_series_ends_where_the_device_changes_its_unit_and_the_mapping_declares_none() -> None:
    undeclared = Mapping(
        "urn:m", "tele/x/SENSOR", "tasmota", "urn:s", "urn:p", "urn:f", "A.Temperature"
    )
    memory = Memory()
    registry, _ = Registry.compile([undeclared], memory)
    celsius = message("tele/x/SENSOR", b'{"A":{"Temperature":20.0},"TempUnit":"C"}')
    fahrenheit = message("tele/x/SENSOR", b'{"A":{"Temperature":68.0},"TempUnit":"F"}')
    assert registry.decode(celsius).notices == ()
    again, _ = Registry.compile([undeclared], memory)
    changed = again.decode(fahrenheit)
    stream = ("urn:s", "urn:p", "urn:f")
    assert changed.notices == (UnitChange(stream, UNIT + "DEG_C", UNIT + "DEG_F"),)
    assert [seen.unit for seen in changed.observations] == [UNIT + "DEG_F"]
    assert again.decode(fahrenheit).notices == ()


def test_series_goes_on_where_the_mapping_declares_a_unit() -> None:
    declared = Mapping(
        "urn:m", "tele/x/SENSOR", "tasmota", "urn:s", "urn:p", "urn:f", "A.Temperature", "°C"
    )
    registry, _ = Registry.compile([declared])
    values = []
    for unit, number in (("C", "20.0"), ("F", "68.0")):
        payload = f'{{"A":{{"Temperature":{number}}},"TempUnit":"{unit}"}}'.encode()
        decoded = registry.decode(message("tele/x/SENSOR", payload))
        assert decoded.notices == ()
        values += [(seen.lexical, seen.unit) for seen in decoded.observations]
    assert values == [("20.0", UNIT + "DEG_C")] * 2


@pytest.mark.parametrize(
    ("mapping", "will", "streams"),
    [
        (
            Mapping("urn:m", "+/sensor/+/state", "esphome", "urn:{1}:{2}", "urn:p", "urn:f:{1}"),
            ("green%house/status", b"offline"),
            {"urn:green%25house:soil", "urn:green%25house:air"},
        ),
        (
            Mapping("urn:m", "homie/5/+/+/+", "homie", "urn:{1}:{2}-{3}", "urn:p", "urn:f:{1}"),
            ("homie/5/boiler/$state", b"lost"),
            {"urn:boiler:tank-top"},
        ),
        (
            Mapping("urn:m", "homie/5/other/+/+", "homie", "urn:{1}:{2}", "urn:p", "urn:f:{1}"),
            ("homie/5/boiler/$state", b"lost"),
            set(),
        ),
        (
            Mapping("urn:m", "shellies/+/relay/+", "shelly_gen1", "urn:{1}:{2}", "urn:p", "urn:f"),
            ("shellies/plug/online", b"false"),
            {"urn:plug:0"},
        ),
    ],
    ids=["esphome", "homie", "another homie", "shelly_gen1"],
)
def test_last_will_after_a_restart_is_about_the_streams_that_the_store_knows(
    mapping: Mapping, will: tuple[str, bytes], streams: set[str]
) -> None:
    memory = Memory()
    for key in [
        ("urn:green%25house:soil", "urn:p", "urn:f:green%25house"),
        ("urn:green%25house:air", "urn:p", "urn:f:green%25house"),
        ("urn:green%25house:air", "urn:other", "urn:f:green%25house"),
        ("urn:green%25house:air:2", "urn:p", "urn:f:green%25house"),
        ("urn:cellar:air", "urn:p", "urn:f:cellar"),
        ("urn:green%25house:air", "urn:p", "urn:f:cellar"),
        ("urn:boiler:tank-top", "urn:p", "urn:f:boiler"),
        ("urn:plug:0", "urn:p", "urn:f"),
    ]:
        memory.of(EarlierStreams).recall(key)
    registry, errors = Registry.compile([mapping], memory)
    assert not errors
    told = registry.decode(message(*will)).notices
    assert all(isinstance(each, Liveness) and not each.is_online for each in told)
    assert {each.stream[0] for each in told if isinstance(each, Liveness)} == streams


def test_streams_of_a_device_are_bounded() -> None:
    known = KnownStreams()
    for number in range(5000):
        known.hear(f"device-{number}", ("urn:s", "urn:p", "urn:f"))
        known.hear("busy", (f"urn:{number}", "urn:p", "urn:f"))
    assert len(list(known.of("busy"))) == 512
    assert list(known.of("device-0")) == []


def test_second_announcement_withdraws_what_it_leaves_out() -> None:
    discovery = Discovery()
    topic = "homeassistant/device/d/config"

    def components(*names: str) -> bytes:
        entries = ",".join(
            f'"{n}":{{"p":"sensor","uniq_id":"{n}","stat_t":"s/{n}"}}' for n in names
        )
        return f'{{"dev":{{"ids":"d"}},"o":{{"name":"x"}},"cmps":{{{entries}}}}}'.encode()

    assert len(discovery.discover(message(topic, components("a", "b"))).proposals) == 2
    found = discovery.discover(message(topic, components("b")))
    assert [iri.rpartition("/")[2] for iri in found.withdrawn] == ["a"]
    emptied = discovery.discover(message(topic, b""))
    assert [iri.rpartition("/")[2] for iri in emptied.withdrawn] == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "value_json.a",
        "{{ value_json.a",
        "{{ states('sensor.x') }}",
        "{{ value_json.a if }}",
        "{% set x = 1 %}{{ y }}",
        "{{ value_json.a.__class__() }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ value_json.a | regex_replace('a', 'b') }}",
        "{{ value_json.a ** 9 }}",
        "{% for x in value_json %}{{ x }}{% endfor %}",
        "{{ (value }}",
        "{{ value | round(99) }}",
        "{{ value | round(1.5) }}",
        "{{ now() }}",
        "{{ this.state }}",
        "{% if value %}{{ value }}",
        "{% if value %}" * 20 + "{{ value }}" + "{% endif %}" * 20,
        "{{ value if value else " * 1 + "1 if 2 else " * 40 + "3 }}",
        "{{ value.format(1) }}",
        "{{ '%x%s' | format(value) }}",
        "{{ '%.99f' | format(value) }}",
        "{{ " + "(" * 50 + "value" + ")" * 50 + " }}",
        "{{ " + "-" * 300 + "value }}",
        "{{ value" + " + 1" * 200 + " }}",
        "{{ range(999999999) }}",
    ],
)
def test_template_beyond_the_safe_part_is_refused(text: str) -> None:
    with pytest.raises(TemplateError):
        ValueTemplate.compile(text)


LONG = b'{"s":"' + b"a" * 1000 + b'"}'


@pytest.mark.parametrize(
    ("text", "payload", "value"),
    [
        ("{{ value }}", b"21.50", "21.50"),
        ("{{value_json['a b'].c[0]}}", b'{"a b":{"c":[7]}}', "7"),
        ("{{- value_json.t|float(0)|round(1) -}}", b'{"t":"21.25"}', "21.2"),
        ("{{ value_json.t | int }}", b'{"t":-7.9}', "-7"),
        ("{{ value_json.a - value_json.b * 2 }}", b'{"a":10,"b":3}', "4"),
        ("{{ (value_json.a - 32) * 5 / 9 }}", b'{"a":68}', "20.0"),
        ("{{ -value_json.a }}", b'{"a":1.5}', "-1.5"),
        ("{{ value_json.a | is_defined }}", b'{"a":"x"}', "x"),
        ("{{ value_json.a / 0 }}", b'{"a":1}', "not_finite"),
        ("{{ value_json.a + 1 }}", b'{"a":true}', "not_a_value"),
        ("{{ value_json.a + 1 }}", b'{"a":1e300}', "too_many_digits"),
        ("{{ value_json.a | int(0) }}", b"{}", "missing"),
        ("{{ value_json.a | default('x') }}", b"{}", "missing"),
        ("{{ 'on' if value_json.a | float(0) > 5 else 'off' }}", b"{}", "false"),
        ("{{ 'on' if value_json.a.b == 1 else 'off' }}", b"{}", "missing"),
        ("{{ iif(value_json.a, 'yes', 'no') }}", b'{"a":0}', "no"),
        ("{{ value_json.a in ['x', 'y'] and not value_json.b }}", b'{"a":"y"}', "true"),
        ("{{ {'0': 'shut', '1': 'ajar'}[value] }}", b"1", "ajar"),
        ("{{ {0: 'shut', 1: 'ajar'}[value | int] }}", b"1", "ajar"),
        ("{{ {'a': 'b'}[value] }}", b"c", "missing"),
        ("{{ value_json.a ~ '/' ~ value_json.b | upper }}", b'{"a":1,"b":"x"}', "1/X"),
        ("{{ value_json.c[1:3] }}", b'{"c":"#FF00"}', "FF"),
        ("{{ value.split(',')[1] | float }}", b"1,2.50", "2.50"),
        ("{{ value | round(1, 'ceil') }}", b"1.21", "1.3"),
        ("{{ value_json.a // 60 }}:{{ value_json.a % 60 }}", b'{"a":125}', "2:5"),
        ("{% if value == '1' %}one{% elif value == '2' %}two{% endif %}", b"2", "two"),
        ("{% if value == '1' %}one{% elif value == '2' %}two{% endif %}", b"3", "missing"),
        ("{%- set n = value_json.n -%} {{ n * 2 }} {# twice #}", b'{"n":4}', "8"),
        ("{% set t %}{{ value_json.a }}{% endset %}{{ t | int + 1 }}", b'{"a":4}', "5"),
        ("{% if value %}{% set x = 1 %}{% endif %}{{ x is defined }}", b"", "false"),
        ("{{ value_json.a == value_json.b }}", b'{"a":1.0,"b":1}', "true"),
        ("{{ value == 1 }}", b"1", "false"),
        ("{{ value_json.a < 'x' }}", b'{"a":1}', "not_a_value"),
        ("{{ value_json.s.replace('a', value_json.s) }}", LONG, "too_large"),
        ("{{ (value | from_json).a }}", b'{"a":3}', "3"),
        ("{{ value_json.a | default(value_json.b) | float }}", b'{"b":7.5}', "7.5"),
        ("{{ value_json.a | default(-1) }}", b'{"b":7.5}', "missing"),
        ("{{ '%.1f' | format(value_json.a | float) }}", b'{"a":"21.25"}', "21.2"),
        ("{{ '%d' | format(value_json.a) }}", b'{"a":21.9}', "21"),
        ("{{ 'on' if value_json.a | int | bitwise_and(3) == 2 else 'off' }}", b'{"a":6}', "true"),
        ("{{ value_json.a | join('-') }}", b'{"a":[1,"b"]}', "1-b"),
        ("{{ value_json.a }} {{ value_json.b }}", b'{"a":3}', "missing"),
    ],
)
def test_template_of_the_safe_part(text: str, payload: bytes, value: str) -> None:
    result = ValueTemplate.compile(text).evaluate(Payload(message("x", payload)))
    found = getattr(result, "lexical", None) or getattr(result, "reason", None)
    assert (found if isinstance(found, str) else found and found.value) == value
