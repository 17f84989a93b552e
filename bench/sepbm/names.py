"""Names, addresses and titles, as persons would write them; a list of our own.

Place on the way of the data: what the enricher puts in the place of generated values. SEP-BM took
such values from DBpedia, which a benchmark that anybody can repeat cannot ask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.sepbm.java_random import JavaRandom

NAMES = Path(__file__).with_name("names.txt")


def _sections() -> Mapping[str, Sequence[str]]:
    parts = NAMES.read_text(encoding="utf-8").split("[")[1:]
    return {name: words.split() for name, words in (part.split("]") for part in parts)}


_WORDS = _sections()


@dataclass(frozen=True, slots=True)
class Person:
    """What is written about a person; each value is plain text without quotes."""

    first_name: str
    surname: str
    email: str
    mbox: str
    telephone: str

    @property
    def name(self) -> str:
        """First name and surname."""
        return f"{self.first_name} {self.surname}"


def person(numbers: JavaRandom) -> Person:
    """The next person; two may have the same name, an address has a number of four digits."""
    first, surname = _word(numbers, "first names"), _word(numbers, "surnames")
    host = f"{_word(numbers, 'hosts')}.{_word(numbers, 'places').lower()}.example"
    number = numbers.between(1000, 9999)
    local = f"{first}.{surname}".lower()
    telephone = f"{numbers.between(200, 999)}-{numbers.between(100, 999)}-{number}"
    return Person(first, surname, f"{local}@{host}", f"{local}{number}@{host}", telephone)


def title(numbers: JavaRandom) -> str:
    """The next title of a publication, three to six words."""
    way, one = _word(numbers, "title ways"), _word(numbers, "title nouns")
    other, place = _word(numbers, "title nouns"), _word(numbers, "places")
    forms = (
        f"{way} {one} in {place}",
        f"On {way} {one} and {other}",
        f"{one} for {other}, and Why",
        f"{way} {one} of {other}",
    )
    return forms[numbers.below(len(forms))]


def university(numbers: JavaRandom) -> str:
    """The next name of a university."""
    return f"University of {_word(numbers, 'places')}"


def _word(numbers: JavaRandom, section: str) -> str:
    words = _WORDS[section]
    return words[numbers.below(len(words))]
