"""`universities`: the data of the Lehigh University Benchmark, LUBM(n), statement by statement.

Place on the way of the data: first; the enricher takes what it gives. Written anew from the
description of the data: ranges, order of draws, IRIs; accepted on the digests of LUBM(1), (2) and
(10). Source: Guo, Pan, Heflin, "LUBM: A benchmark for OWL knowledge base systems", 2005.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from bench.sepbm.java_random import JavaRandom

UNIV_BENCH = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
UNIV_BENCH_2004 = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
"""The namespace of LUBM's later publications, and the older one, which SEP-BM's queries use."""

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

Statement = tuple[str, str, str]
"""Subject, predicate and object in the form of N-Triples."""

PROFESSORS = ("FullProfessor", "AssociateProfessor", "AssistantProfessor")
_RANKS = {
    "FullProfessor": ((7, 10), (15, 20)),
    "AssociateProfessor": ((10, 14), (10, 18)),
    "AssistantProfessor": ((8, 11), (5, 10)),
    "Lecturer": ((5, 7), (0, 5)),
}
"""How many there are in a department, and how many publications each has."""

_DEPARTMENTS = (15, 25)
_UNIVERSITIES = 1000
_POOL = 100
_RESEARCH = 30
_TELEPHONE = '"xxx-xxx-xxxx"'


def universities(number: int, namespace: str = UNIV_BENCH, seed: int = 0) -> Iterator[Statement]:
    """All statements of LUBM(`number`), some several times, as the generator emits them."""
    for university in range(number):
        numbers = JavaRandom(seed * -(2**31) + university)
        words = _Words(namespace)
        iri = _university(university)
        yield iri, RDF_TYPE, words.University
        yield iri, words.name, f'"University{university}"'
        for department in range(numbers.between(*_DEPARTMENTS)):
            yield from _Department(numbers, words, university, department).statements()


def digest(statements: set[Statement]) -> str:
    """The SHA-256 of the N-Triples lines in the order of their bytes."""
    lines = sorted(f"{s} {p} {o} .\n".encode() for s, p, o in statements)
    return sha256(b"".join(lines)).hexdigest()


class _Words:
    """The terms of a namespace, by attribute; each is made once."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> str:
        term = self.__dict__[name] = f"<{self._namespace}{name}>"
        return term


@dataclass(slots=True)
class _Department:
    """One department, drawn and told in the order of the benchmark."""

    numbers: JavaRandom
    words: _Words
    university: int
    department: int
    courses: int = 0
    graduate_courses: int = 0
    publications: list[tuple[str, int]] = field(default_factory=list)
    """Author and number, in the order in which the faculty is told."""
    co_authors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def _iri(self) -> str:
        return f"<http://www.Department{self.department}.University{self.university}.edu>"

    def _of(self, name: str) -> str:
        return f"{self._iri[:-1]}/{name}>"

    def statements(self) -> Iterator[Statement]:
        """Everything of the department."""
        draw, words = self.numbers.between, self.words
        faculty = {rank: draw(*size) for rank, (size, _) in _RANKS.items()}
        members = sum(faculty.values())
        students = draw(8 * members, 14 * members)
        graduates = draw(3 * members, 4 * members)
        assisting = draw(graduates // 5, graduates // 4), draw(graduates // 4, graduates // 3)
        groups = draw(10, 20)
        chair = self.numbers.below(faculty["FullProfessor"])
        university = _university(self.university)
        yield self._iri, RDF_TYPE, words.Department
        yield self._iri, words.name, f'"Department{self.department}"'
        yield self._iri, words.subOrganizationOf, university
        yield university, RDF_TYPE, words.University
        for rank, count in faculty.items():
            for index in range(count):
                yield from self._faculty(rank, index)
                if rank == "FullProfessor" and index == chair:
                    yield self._of(f"{rank}{index}"), words.headOf, self._iri
        yield from self._students(students, faculty)
        yield from self._graduates(graduates, faculty)
        for index in range(groups):
            yield self._of(f"ResearchGroup{index}"), RDF_TYPE, words.ResearchGroup
            yield self._of(f"ResearchGroup{index}"), words.subOrganizationOf, self._iri
        yield from self._papers()
        yield from self._lectures()
        yield from self._assistants(graduates, *assisting)

    def _person(self, kind: str, index: int, place: str) -> Iterator[Statement]:
        name = f"{kind}{index}"
        iri, words = self._of(name), self.words
        yield iri, RDF_TYPE, getattr(words, kind)
        yield iri, words.name, f'"{name}"'
        yield iri, place, self._iri
        host = f"Department{self.department}.University{self.university}.edu"
        yield iri, words.emailAddress, f'"{name}@{host}"'
        yield iri, words.telephone, _TELEPHONE

    def _faculty(self, rank: str, index: int) -> Iterator[Statement]:
        words, numbers = self.words, self.numbers
        iri = self._of(f"{rank}{index}")
        yield from self._person(rank, index, words.worksFor)
        for _ in range(numbers.between(1, 2)):
            numbers.below(_POOL - self.courses)  # courses are taken in sequence, whatever comes
            yield iri, words.teacherOf, self._of(f"Course{self.courses}")
            self.courses += 1
        for _ in range(numbers.between(1, 2)):
            numbers.below(_POOL - self.graduate_courses)
            yield iri, words.teacherOf, self._of(f"GraduateCourse{self.graduate_courses}")
            self.graduate_courses += 1
        for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            yield from self._degree(iri, degree)
        if rank in PROFESSORS:
            yield iri, words.researchInterest, f'"Research{numbers.below(_RESEARCH)}"'
        papers = numbers.between(*_RANKS[rank][1])
        self.publications += ((f"{rank}{index}", paper) for paper in range(papers))

    def _degree(self, iri: str, degree: str) -> Iterator[Statement]:
        university = _university(self.numbers.below(_UNIVERSITIES))
        yield iri, getattr(self.words, degree), university
        yield university, RDF_TYPE, self.words.University

    def _students(self, count: int, faculty: dict[str, int]) -> Iterator[Statement]:
        words, numbers = self.words, self.numbers
        for index in range(count):
            iri = self._of(f"UndergraduateStudent{index}")
            yield from self._person("UndergraduateStudent", index, words.memberOf)
            for course in self._picked(numbers.between(2, 4), range(self.courses)):
                yield iri, words.takesCourse, self._of(f"Course{course}")
            if numbers.below(5) == 0:
                yield iri, words.advisor, self._advisor(faculty)

    def _graduates(self, count: int, faculty: dict[str, int]) -> Iterator[Statement]:
        words, numbers = self.words, self.numbers
        for index in range(count):
            iri = self._of(f"GraduateStudent{index}")
            yield from self._person("GraduateStudent", index, words.memberOf)
            for course in self._picked(numbers.between(1, 3), range(self.graduate_courses)):
                yield iri, words.takesCourse, self._of(f"GraduateCourse{course}")
            yield from self._degree(iri, "undergraduateDegreeFrom")
            numbers.below(1)  # whether there is an advisor: always
            yield iri, words.advisor, self._advisor(faculty)
            for paper in self._picked(numbers.between(0, 5), range(len(self.publications))):
                author, number = self.publications[paper]
                self.co_authors.append((self._of(f"{author}/Publication{number}"), iri))

    def _advisor(self, faculty: dict[str, int]) -> str:
        rank = PROFESSORS[self.numbers.below(len(PROFESSORS))]
        return self._of(f"{rank}{self.numbers.below(faculty[rank])}")

    def _papers(self) -> Iterator[Statement]:
        words = self.words
        for author, number in self.publications:
            iri = self._of(f"{author}/Publication{number}")
            yield iri, RDF_TYPE, words.Publication
            yield iri, words.name, f'"Publication{number}"'
            yield iri, words.publicationAuthor, self._of(author)
        for paper, student in self.co_authors:
            yield paper, words.publicationAuthor, student

    def _lectures(self) -> Iterator[Statement]:
        for kind, count in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            for index in range(count):
                iri = self._of(f"{kind}{index}")
                yield iri, RDF_TYPE, getattr(self.words, kind)
                yield iri, self.words.name, f'"{kind}{index}"'

    def _assistants(self, graduates: int, teaching: int, research: int) -> Iterator[Statement]:
        words = self.words
        students = self._picked(teaching + research, range(graduates))
        courses = self._picked(teaching, range(self.courses))
        for student, course in zip(students, courses, strict=False):  # the others do research
            iri = self._of(f"GraduateStudent{student}")
            yield iri, RDF_TYPE, words.TeachingAssistant
            yield iri, words.teachingAssistantOf, self._of(f"Course{course}")
        for student in students[teaching:]:
            yield self._of(f"GraduateStudent{student}"), RDF_TYPE, words.ResearchAssistant

    def _picked(self, count: int, of: Sequence[int]) -> list[int]:
        """`count` of them without replacement, as drawn."""
        left = list(of)
        return [left.pop(self.numbers.below(len(left))) for _ in range(count)]


def _university(number: int) -> str:
    return f"<http://www.University{number}.edu>"
