"""Names, addresses and titles, as persons would write them; a list of our own.

Place on the way of the data: what the enricher puts in the place of generated values. SEP-BM took
such values from DBpedia, which a benchmark that anybody can repeat cannot ask.
"""

from dataclasses import dataclass

from bench.sepbm.java_random import JavaRandom

FIRST_NAMES = (
    "Ada Adrian Agnes Albert Alice Alma Amina Andrea Anna Anton Arthur Astrid Aurora Barbara "
    "Beatrice Benedict Bernard Bianca Boris Bruno Camilla Carl Carmen Cecilia Charles Christine "
    "Clara Claude Conrad Cornelia Daniel Daria David Deborah Denise Diana Dominic Dora Edgar Edith "
    "Eduard Elena Elias Elisa Emil Emma Erik Esther Eugene Eva Fabian Felix Fiona Florian Frances "
    "Frank Frida Gabriel Georg Gerda Gisela Greta Gustav Hanna Harald Helena Henry Hilda Hugo Ida "
    "Igor Ilse Irene Isabel Ivan Jacob Jana Jasmin Johan Julia Karin Katja Kim Klaus Lara Laura Lea "
    "Leon Linda Louis Lucia Ludwig Magda Marcel Maria Martin Mathilda Max Mia Michael Mina Mona "
    "Nadia Nikolai Nina Nora Olaf Olga Oscar Otto Paul Paula Peter Philippa Quentin Rainer Rebecca "
    "Richard Robert Rosa Rudolf Ruth Samuel Sara Selma Silvia Simon Sofia Stefan Susanna Tamara "
    "Theodor Thomas Tilda Tobias Ulrich Ursula Valentin Vera Victor Viola Walter Wanda Werner "
    "Wilma Xenia Yara Yusuf Zita Zoe"
).split()
SURNAMES = (
    "Abel Adler Albrecht Anders Arnold Auer Bach Barnes Bauer Beck Becker Berg Bernard Bishop "
    "Blake Bohm Brandt Braun Brown Bruckner Burns Busch Carter Castro Chapman Christensen Clark "
    "Colombo Conti Cook Costa Cruz Dahl Daniels Davies Decker Deng Dietrich Dorn Drake Duarte "
    "Dubois Dvorak Eberhard Eckert Egger Eliot Engel Evans Falk Fischer Fontana Forster Fox Franke "
    "Frost Fuchs Gallo Garcia Gardner Geiger Gibson Gomez Graf Graham Gross Gruber Haas Hahn "
    "Hansen Harris Hartmann Hayes Heller Herrmann Hill Hoffmann Holm Huber Hughes Ivanov Jansen "
    "Jensen Johnson Jung Kaiser Keller Kelly Kern King Klein Koch Kovacs Kraus Kuhn Lang Larsen "
    "Lehmann Lindberg Lopez Lorenz Mancini Marino Martens Mayer Meier Mendes Moreau Moser Murphy "
    "Nagel Nakamura Neumann Nilsson Novak Olsen Ortiz Palmer Park Pavlov Peters Pfeiffer Pohl "
    "Quinn Ramos Reed Reiter Ricci Richter Rossi Roth Russo Sanders Sauer Schmidt Schneider Schulz "
    "Silva Simmons Sokolov Stein Stern Suzuki Tanaka Taylor Torres Turner Unger Urban Vargas Vogel "
    "Voss Wagner Walsh Weber Weiss White Winkler Wolf Wong Yamada Young Zeller Ziegler Zimmermann"
).split()
PLACES = (
    "Arlen Birkdale Calder Dunmore Elmstad Fairhaven Granby Hollin Ilmenau Jorvik Kelso Lindau "
    "Marlow Norden Oakham Pembry Quarry Ravenna Selby Thornbury Ullin Varen Westbrook Yarrow Zell"
).split()
_TITLE_NOUNS = (
    "Streams Graphs Sensors Rules Queries Networks Proofs Markets Cells Archives Signals Languages "
    "Maps Polymers Bridges Memories Contracts Glaciers Compilers Enzymes"
).split()
_TITLE_WAYS = "Incremental Robust Sparse Hidden Local Early Coupled Faithful Lasting Slow".split()
_HOSTS = ("mail", "post", "campus", "lab")


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
    first = FIRST_NAMES[numbers.below(len(FIRST_NAMES))]
    surname = SURNAMES[numbers.below(len(SURNAMES))]
    host = (
        f"{_HOSTS[numbers.below(len(_HOSTS))]}.{PLACES[numbers.below(len(PLACES))].lower()}.example"
    )
    number = numbers.between(1000, 9999)
    local = f"{first}.{surname}".lower()
    telephone = f"{numbers.between(200, 999)}-{numbers.between(100, 999)}-{number}"
    return Person(first, surname, f"{local}@{host}", f"{local}{number}@{host}", telephone)


def title(numbers: JavaRandom) -> str:
    """The next title of a publication, three to six words."""
    way, one, other = (
        words[numbers.below(len(words))] for words in (_TITLE_WAYS, _TITLE_NOUNS, _TITLE_NOUNS)
    )
    form = numbers.below(4)
    if form == 0:
        return f"{way} {one} in {PLACES[numbers.below(len(PLACES))]}"
    if form == 1:
        return f"On {way} {one} and {other}"
    return f"{one} for {other}, and Why" if form == 2 else f"{way} {one} of {other}"


def university(numbers: JavaRandom) -> str:
    """The next name of a university."""
    return f"University of {PLACES[numbers.below(len(PLACES))]}"
