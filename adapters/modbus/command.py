"""Commands of the format "modbus": which register is written, and with what.

Place on the way: an actuator's payload is `cellar/1 holding 100 int16 scale 0.1 = {value}`; once
the value is filled in, `encode_command` makes the registers of it, in the form that a reading has.
The gate writes them. A register that is to be written is named so by an actuator with a range, or
words; nothing else is ever written.
"""

from datetime import datetime

from adapters.modbus.reading import Reading, read_reading, reading_payload
from adapters.modbus.register import WRITTEN, Register
from adapters.modbus.topics import COMMANDS, TOPIC
from adapters.modbus.words import encoded
from adapters.values.fault import Fault
from adapters.values.message import Message
from adapters.values.payload import Payload
from adapters.values.topic_filter import TopicFilter

_VALUE = "{value}"


def encode_command(text: str, sent_at: datetime) -> bytes:
    """The registers of a filled-in command. Raises ValueError with why it cannot be sent.

    >>> from datetime import UTC
    >>> encode_command("cellar/1 holding 100 int16 scale 0.1 = 21.5", datetime.now(UTC))
    b'{"bus":"cellar","unit":1,"holding":{"100":[215]}}'
    """
    del sent_at
    selector, sign, value = text.partition("=")
    if not sign:
        raise ValueError(_HOW)
    register = _written(selector)
    words = encoded(register, value.strip().strip('"'))
    return reading_payload(register.device, {register.table: {register.address: words}})


def command_defect(topic: str, template: str, *, is_bounded: bool) -> str:
    """Why an actuator is none of a register; empty where it is one.

    `is_bounded` says that it has minimum and maximum, or words.
    """
    if not is_command_topic(topic):
        return f"topic {topic!a} is not {TOPIC}/DEVICE/{COMMANDS}"
    selector, sign, value = template.partition("=")
    if not sign or value.strip() != _VALUE or "{" in selector:
        return _HOW
    try:
        register = _written(selector)
    except ValueError as error:
        return f"payload: {error}"
    if register.table != "coil" and not is_bounded:
        return "minimum and maximum are missing: a register is written within a range alone"
    return ""


def is_command_topic(topic: str) -> bool:
    """Whether commands to a register go to a topic."""
    levels = topic.split("/")
    try:
        TopicFilter.parse(topic)
    except ValueError:
        return False
    is_there = len(levels) == 3 and bool(levels[1]) and levels[1] not in {"+", "#"}
    return is_there and levels[0] == TOPIC and levels[2] == COMMANDS


def read_command(message: Message) -> Reading:
    """What is to be written where. Raises ValueError for what `encode_command` does not make."""
    reading = read_reading(Payload(message))
    if isinstance(reading, Fault):
        raise ValueError(reading.detail)
    tables = {table for table, _ in reading.words}
    places = sorted(place for _, place in reading.words)
    is_run = bool(places) and places[-1] - places[0] == len(places) - 1
    if len(tables) != 1 or not tables <= WRITTEN or not is_run:
        raise ValueError("a command writes one run of coils or of holding registers")
    return reading


def _written(selector: str) -> Register:
    register = Register.parse(selector, scaled=True)
    if register.table not in WRITTEN:
        raise ValueError(f"{register.table} is read only: coil and holding are written")
    if register.bit is not None:
        raise ValueError("a bit of a register cannot be written: its others would be too")
    return register


_HOW = "a payload is a register and its value: cellar/1 holding 100 int16 = {value}"
