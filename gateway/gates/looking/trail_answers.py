"""What /why/trail answers: stations on the way of a value; docs/looking.md shows it."""

from typing import Literal

from pydantic import Field

from gateway.gates.http.json_router import Answer

Kind = Literal[
    "message", "mapping", "observation", "triples", "derived", "question", "rule", "command"
]
Status = Literal["ok", "broken", "waiting"]


class ItemLink(Answer):
    """Where a page goes for more: what kind of thing, and its IRI or id."""

    kind: str
    id: str


class Item(Answer):
    """One thing to know at a station."""

    name: str
    value: str
    link: ItemLink | None = None


class Station(Answer):
    """A station: what is known there, what is wrong with it, and what to do about that."""

    kind: Kind
    status: Status
    title: str
    time: str | None = None
    items: list[Item] = Field(default_factory=list)
    problem: str | None = None
    advice: str | None = None


class TrailTold(Answer):
    """The stations in the order of the way of the data, and what they are about."""

    about: str = Field(description="IRI of an observation or actuation; empty where there is none")
    stations: list[Station]
    others: list[str] = Field(description="observations that it is of besides, by their IRIs")


def item(name: str, value: object, kind: str = "", id_: str = "") -> Item:
    """An item, with a link where it has a kind; the link is to the value itself without an id."""
    text = str(value)
    if not kind:
        return Item(name=name, value=text)
    return Item(name=name, value=text, link=ItemLink(kind=kind, id=id_ or text))


def station(
    kind: Kind, status: Status, title: str, *items: Item | None, time: str | None = None
) -> Station:
    """A station on whose way nothing is wrong; items that are None are left out."""
    told = [each for each in items if each is not None]
    members: dict[str, object] = {"kind": kind, "status": status, "title": title, "items": told}
    return Station.model_validate(members | ({"time": time} if time else {}))


def troubled(told: Station, problem: str, advice: str, status: Status = "broken") -> Station:
    """The station with what is wrong there."""
    wrong = {"status": status, "problem": problem, "advice": advice}
    known = told.model_dump(exclude_unset=True)
    return Station.model_validate(known | wrong)
