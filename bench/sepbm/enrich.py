"""`enriched`: LUBM's data with names, addresses and titles, and three new values a person.

Place on the way of the data: between the generator of universities and the configuration. Persons
get foaf:firstName, foaf:surname and foaf:mbox; so that the numbers of statements are the paper's,
each university that is described gets three too, by our choice foaf:name, foaf:nick and
foaf:mbox. Courses and departments keep their generated names. Source: Murth et al., "Performance
Testing of Semantic Publish/Subscribe Systems", section 3.1.
"""

from collections.abc import Iterable, Iterator

from bench.sepbm.java_random import JavaRandom
from bench.sepbm.lubm import PROFESSORS, RDF_TYPE, UNIV_BENCH, Statement
from bench.sepbm.names import Person, person, title, university

FOAF = "http://xmlns.com/foaf/0.1/"
PERSONS = (*PROFESSORS, "Lecturer", "UndergraduateStudent", "GraduateStudent")


def enriched(
    statements: Iterable[Statement], namespace: str = UNIV_BENCH, seed: int = 0
) -> list[Statement]:
    """The distinct statements in their order; the first one of a resource tells its type."""
    pool: dict[str, str] = {}
    told = _Enricher(namespace, seed).tell(statements)
    return list(dict.fromkeys((_one(pool, s), _one(pool, p), _one(pool, o)) for s, p, o in told))


def _one(pool: dict[str, str], term: str) -> str:
    """The same string for equal ones: there are ten of each."""
    return pool.setdefault(term, term)


class _Enricher:
    """Draws in the order of the statements."""

    def __init__(self, namespace: str, seed: int) -> None:
        self._numbers = JavaRandom(seed)
        self._persons = {f"<{namespace}{name}>" for name in PERSONS}
        self._publication = f"<{namespace}Publication>"
        self._university = f"<{namespace}University>"
        self._name = f"<{namespace}name>"
        self._email = f"<{namespace}emailAddress>"
        self._telephone = f"<{namespace}telephone>"

    def tell(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        """The statements with replaced values, and the new ones."""
        subject, values = "", dict[str, str]()
        for statement in statements:
            s, p, o = statement
            if p == RDF_TYPE and o in self._persons:
                drawn = person(self._numbers)
                subject, values = s, self._values(drawn)
                yield statement
                yield from _added(s, firstName=drawn.first_name, surname=drawn.surname)
                yield from _added(s, mbox=drawn.mbox)
            elif p == RDF_TYPE and o == self._publication:
                subject, values = s, {self._name: title(self._numbers)}
                yield statement
            elif p == self._name and o.startswith('"University'):
                name = university(self._numbers)
                yield s, p, f'"{name}"'
                place = name.rpartition(" ")[2].lower()
                yield from _added(s, name=name, nick=place, mbox=f"office@{place}.example")
            elif s == subject and p in values:
                yield s, p, f'"{values[p]}"'
            else:
                yield statement

    def _values(self, drawn: Person) -> dict[str, str]:
        return {
            self._name: drawn.name,
            self._email: drawn.email,
            self._telephone: drawn.telephone,
        }


def _added(subject: str, **values: str) -> Iterator[Statement]:
    for name, value in values.items():
        yield subject, f"<{FOAF}{name}>", f'"{value}"'
