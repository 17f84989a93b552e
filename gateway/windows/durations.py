"""Durations as ISO 8601 writes them, in microseconds.

Place: declarations of windows (`gateway.windows.window`). Taken are lengths that are the same
whenever they begin: weeks, days of 24 hours, hours, minutes, seconds and decimals of seconds (ISO
8601-1:2019, 5.5.2.3). Years and months are not: "a month" would mean another range each time.
"""

import re
from datetime import timedelta

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
"""Microseconds of a day by the clock; within a zone some days are an hour shorter or longer."""

LONGEST_US = 100 * 366 * DAY_US
"""What is longer than a century is a slip of the pen, or an attempt at arithmetic that hurts."""

_N = r"[0-9]{1,9}"
_DURATION = re.compile(
    rf"P(?:(?P<weeks>{_N})W|(?:(?P<days>{_N})D)?"
    rf"(?:T(?=[0-9])(?:(?P<hours>{_N})H)?(?:(?P<minutes>{_N})M)?"
    rf"(?:(?P<seconds>{_N})(?:[.,](?P<fraction>[0-9]{{1,6}}))?S)?)?)"
)


def duration(value: "str | int | timedelta") -> int:
    """Microseconds of a text, a `timedelta`, or of microseconds themselves; never negative.

    Raises ValueError, which says what is wrong and what would be right.

    >>> duration("PT10M"), duration("P1DT0.5S"), duration("P2W") == 14 * DAY_US
    (600000000, 86400500000, True)
    """
    length = _of_text(value) if isinstance(value, str) else _of_number(value)
    if length < 0:
        raise ValueError("a duration is not negative")
    if length > LONGEST_US:
        raise ValueError("a duration is 100 years at most")
    return length


def duration_text(length: int) -> str:
    """The shortest text of so many microseconds in days, hours, minutes and seconds.

    >>> duration_text(600_000_000), duration_text(86_400_500_000), duration_text(0)
    ('PT10M', 'P1DT0.5S', 'PT0S')
    """
    days, rest = divmod(length, DAY_US)
    hours, rest = divmod(rest, HOUR_US)
    minutes, rest = divmod(rest, MINUTE_US)
    seconds, fraction = divmod(rest, SECOND_US)
    text = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if fraction:
        text += f"{seconds}.{fraction:06d}".rstrip("0") + "S"
    elif seconds or not (days or text):
        text += f"{seconds}S"
    return "P" + (f"{days}D" if days else "") + (f"T{text}" if text else "")


def _of_number(value: object) -> int:
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError('a duration is a text as ISO 8601 has it, such as "PT10M"')


def _of_text(text: str) -> int:
    found = _DURATION.fullmatch(text)
    if found is None or text == "P":
        raise ValueError(_reason(text))
    parts = {name: int(number or 0) for name, number in found.groupdict().items()}
    fraction = (found["fraction"] or "").ljust(6, "0")
    days = 7 * parts["weeks"] + parts["days"]
    minutes = 60 * parts["hours"] + parts["minutes"]
    return days * DAY_US + minutes * MINUTE_US + parts["seconds"] * SECOND_US + int(fraction)


def _reason(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    if re.match(r"P(?:[0-9]+[WD])?[0-9]+[YM]", text):
        return f'"{shown}": years and months differ in length; give days, such as "P30D"'
    if re.search(r"[.,][0-9]{7,}S", text):
        return f'"{shown}": a second has six decimals at most'
    if re.search(r"[.,][0-9]+[WDHM]", text):
        return f'"{shown}": only seconds have decimals; "PT90S" is one and a half minutes'
    if text.startswith("-"):
        return f'"{shown}": a duration is not negative'
    return f'"{shown}" is no duration of ISO 8601; "PT10M" is ten minutes, "P1DT12H" 36 hours'
