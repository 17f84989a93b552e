"""What a device announces as a template is refused, or it reads messages and never raises."""

import random
import time
from datetime import UTC, datetime

import pytest

from adapters.formats.homeassistant.commands import encode
from adapters.formats.homeassistant.template import CommandTemplate, ValueTemplate
from adapters.formats.homeassistant.tokens import TemplateError
from adapters.values.fault import Fault
from adapters.values.message import Message
from adapters.values.payload import Payload
from adapters.values.result import Result

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
_PIECES = """
value value_json .a .b ['c'] [0] [-1] [1:3] ( ) [ ] { } , : | ~ + - * / // % == != < > <= >= in
not and or if else is defined none number string mapping true false none 1 2.5 0 'x' "1" float int
{{ }} {% %} {%if {%elif {%else%} {%endif%} {%set x= {%endset%} x told text - }} {{- -%} {# #}
"""
PIECES = _PIECES.split()
OPERANDS = ["value", "value_json", "value_json.a", "value_json.a.b[1]", "value_json['c']"]
OPERANDS += ["1", "2.5", "'x'", "[1, 'x']", "{'x': 1, 2: value}", "none", "true", "0"]
BEHIND = ["float", "int", "int(3)", "round(1)", "round(1, 'ceil')", "default('z')", "iif('a', 'b')"]
BEHIND += ["lower", "replace('a', 'b')", "join(',')", "length", "abs", "first", "from_json"]
BEHIND += ["to_json", "multiply(2)", "string", "bool", "is_number", "title", "last"]
CALLS = [".get('a')", ".split(',')", ".strip()", "[0]", "[1:3]", "['c']", ".a", " is defined"]
SIGNS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"]
PAYLOADS = [
    b"",
    b"21.5",
    b"on",
    b'{"a":{"b":[1,"2",null,true]},"c":"x,y"}',
    b"[1,2,3]",
    b"null",
    b"1e999",
    b"\xff",
    b'"' + b"a" * 2000 + b'"',
    b"-" + b"9" * 3000,
]


def expression(dice: random.Random, depth: int) -> str:
    """One that parses."""
    if not depth:
        return dice.choice(OPERANDS)
    inner = expression(dice, depth - 1)
    match dice.randrange(5):
        case 0:
            return f"({inner} {dice.choice(SIGNS)} {expression(dice, depth - 1)})"
        case 1:
            return f"({inner} | {dice.choice(BEHIND)})"
        case 2:
            return f"({inner}){dice.choice(CALLS)}"
        case 3:
            return f"({inner} if {expression(dice, depth - 1)} else {dice.choice(OPERANDS)})"
    return f"-{inner}" if dice.random() < 0.3 else f"(not {inner})"


def templates(count: int) -> list[str]:
    dice = random.Random(14)
    texts = []
    for _ in range(count):
        body = " ".join(dice.choices(PIECES, k=dice.randrange(1, 14)))
        parsed = "{{ " + expression(dice, dice.randrange(5)) + " }}"
        texts.append(dice.choice([body, "{{ value_json " + body + " }}", parsed, parsed]))
    return texts


def test_random_templates_are_refused_or_never_raise() -> None:
    compiled = 0
    payloads = [Payload(Message("t", each, NOW)) for each in PAYLOADS]
    for text in templates(6000):
        for as_word in (False, True):
            try:
                template = ValueTemplate.compile(text, as_word=as_word)
            except TemplateError:
                continue
            compiled += 1
            for payload in payloads:
                assert isinstance(template.evaluate(payload), Result | Fault), text
    assert compiled > 4000


def test_random_commands_are_refused_by_value_error_alone() -> None:
    for text in templates(4000):
        try:
            CommandTemplate.compile(text).render("on")
        except ValueError:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "{{ " + "value ~ " * 190 + "value }}",
        "{{ value" + ".replace('a', value)" * 40 + " }}",
        "{% set x %}{{ value }}{{ value }}{% endset %}" * 12 + "{{ x }}",
        "{% set x = value %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
        "{{ value_json" + " * 9999999999" * 150 + " }}",
        "{{ " + "[" * 200 + " }}",
        "{% if value %}" * 200,
        "{{ '" + "a" * 5000 + "' }}",
    ],
)
def test_a_template_takes_no_time_and_no_memory(text: str) -> None:
    began = time.process_time()
    try:
        template = ValueTemplate.compile(text)
    except TemplateError:
        pass
    else:
        for raw in (b"a" * 60_000, b"7"):
            result = template.evaluate(Payload(Message("t", raw, NOW)))
            assert isinstance(result, Fault) or len(result.lexical) <= 64 * 1024
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "payload",
    [
        '{"template":"{{ now() }}","value":1}',
        '{"template":"{{ {}[value] }}","value":"x"}',
        '{"template":"{{ value / 0 }}","value":1}',
    ],
)
def test_a_command_that_cannot_be_made_says_why(payload: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        encode(payload, NOW)


@pytest.mark.parametrize(
    "payload", ["ON", '{"template":1}', '{"template":"x","value":1,"more":2}', '{"template":']
)
def test_a_payload_that_is_no_template_goes_out_as_it_is(payload: str) -> None:
    assert encode(payload, NOW) == payload.encode()
