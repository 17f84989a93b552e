"""Truth and gateway side by side, item by item; equal means every field of every item.

Place on the way of the data: behind everything, for people.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from gateway.demo.fleet.acts import GATEWAY
from gateway.demo.fleet.findings import Stored
from gateway.demo.fleet.truth import Observed, Truth

ASPECTS = ("observations", "store", "series", "means", "absences", "quarantine", "requests")
MOST_SHOWN = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Difference:
    """An item that only one of the two has."""

    label: str
    aspect: str
    missing: bool
    item: object

    def __str__(self) -> str:
        """One line about the difference."""
        who = "the gateway lacks" if self.missing else "only the gateway has"
        return f"{self.label}, {self.aspect}: {who} {self.item}"


@dataclass(frozen=True, slots=True)
class Compared:
    """The numbers of one aspect by dialect, and what differs."""

    aspect: str
    truth: Mapping[str, int]
    gateway: Mapping[str, int]
    differences: tuple[Difference, ...]


def compare(
    aspect: str, truth: Iterable[T], gateway: Iterable[T], label: Callable[[T], str]
) -> Compared:
    """Both as bags of items, `label` tells whose an item is."""
    wanted, found = Counter(truth), Counter(gateway)
    missing = (Difference(label(each), aspect, True, each) for each in (wanted - found).elements())
    extra = (Difference(label(each), aspect, False, each) for each in (found - wanted).elements())
    return Compared(aspect, _sums(wanted, label), _sums(found, label), (*missing, *extra))


def _sums(items: Counter[T], label: Callable[[T], str]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for item, count in items.items():
        sums[label(item)] += count
    return sums


def observations(truth: Truth) -> Iterable[Observed]:
    """What must be in the journal; which reading it was only the device knows."""
    for each in truth.observed.values():
        yield each.anonymous


def in_store(truth: Truth) -> Iterable[Stored]:
    """What must be in the store."""
    for stream, each in truth.latest.items():
        told = each.expected
        believed = told.time is not None and not told.suspect
        is_number = told.datatype in {"decimal", "integer", "double"}
        yield Stored(
            stream,
            canonical(told.lexical) if is_number else told.lexical,
            each.unit,
            each.result_time,
            each.ingested_at,
            told.source if believed else GATEWAY,
            told.suspect,
        )


def canonical(number: str) -> str:
    """As the store gives a decimal or an integer back.

    >>> canonical("21.50"), canonical("7"), canonical("7.0")
    ('21.5', '7', '7')
    """
    text = format(Decimal(number), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def table(compared: Iterable[Compared], messages: Mapping[str, int]) -> list[str]:
    """One line a dialect: what the truth has, and where the gateway has another number, both."""
    aspects = list(compared)
    rows = [["dialect", "messages", *(each.aspect for each in aspects), ""]]
    unknown = {each.label for every in aspects for each in every.differences} - set(messages)
    for label in sorted({*messages, *unknown}):
        cells = [_cell(each.truth.get(label, 0), each.gateway.get(label, 0)) for each in aspects]
        wrong = sum(each.label == label for every in aspects for each in every.differences)
        verdict = f"{wrong} differ" if wrong else "equal"
        rows.append([label, str(messages.get(label, 0)), *cells, verdict])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _cell(truth: int, gateway: int) -> str:
    return str(truth) if truth == gateway else f"{truth}, gateway {gateway}"
