"""Spells the same SPARQL text in other ways, which must not change what it means.

Place: under the oracle tests of what recognises texts by their shape.
"""

import re
from random import Random

from gateway.rdf.namespaces import XSD

_TOKEN = re.compile(
    r"(?P<iri><urn:[a-z]>)|(?P<other_iri><[^<> ]*>)|(?P<integer>(?<![\w.'?:-])(?:01|1|2)(?![\w.']))"
    r"|(?P<text>'[a-z]')|(?P<string>'[^']*'|\"[^\"]*\")|(?P<name>[?_:\w]*:[\w]*|\?\w+)"
    r"|(?P<bound>LIMIT \d+|OFFSET \d+)|(?P<word>[A-Za-z]+)|(?P<space>\s+)"
)
_PROLOGUE = f"PREFIX u: <urn:> PREFIX : <urn:> PREFIX x: <{XSD}>\n"


def spelled(random: Random, text: str) -> str:
    """The text with other white space, comments, letter cases, prefixed names and literals.

    A prologue is written before it, which declares `u:` too, so it must not come with one.
    """

    def other(found: re.Match[str]) -> str:
        written = found[0]
        ways = _ways(str(found.lastgroup), written)
        return random.choice((written, written, *ways)) if ways else written

    return _PROLOGUE + _TOKEN.sub(other, text)


def _ways(kind: str, written: str) -> tuple[str, ...]:
    match kind:
        case "iri":
            name = written[5]
            return (f"u:{name}", f":{name}", f"<urn:\\u{ord(name):04x}>")
        case "integer":
            return (f"'{written}'^^x:integer", f'"{written}"^^<{XSD}integer>')
        case "text":
            value = written[1]
            return (f'"{value}"', f"'''{value}'''", f'"""{value}"""', f"'\\u{ord(value):04x}'")
        case "word":
            return (written.lower(), written.capitalize()) if written.isupper() else ()
        case "space":
            return ("  ", "\n\t", " # <urn:a> ' \" } ;\n")
        case _:
            return ()
