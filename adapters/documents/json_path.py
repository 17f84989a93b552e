"""`JsonPath`: where a value stands in a document (JSON, CBOR, MessagePack).

Place on the way: selectors of the document formats and of the families that send documents.

The singular paths are those of RFC 9535 in a friendlier spelling: `$` the document, `.name` or
`['any name']` a member, `[0]` an element, `[-1]` the last one. After a dot a name may have every
character but white space and .[]'"*?@,() so `$.switch:0` and `$.DS18B20-1` need no brackets.

Wildcards give several values, each with a name that `{name}` stands for: `.*` every member (its
key), `[*]` every element (its index), `[id=*]` every element that is an object with a member `id`
(the value of that member), `[id='a']` only the one whose `id` is `a`. Names of several wildcards
are joined by a dot.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from adapters.values.payload import Json

MAX_PATH_CHARS = 512
MAX_FOUND = 1000
"""Values of one path in one message; more are left alone."""


class Absent:
    """The type of ABSENT: there is nothing at a path."""


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Every:
    """A wildcard: all members or elements, or the elements told apart by their `member`."""

    member: str = ""
    equals: str | None = None

    def children(self, node: Json) -> Iterator[tuple[str, Json]]:
        """Name and value of each match, in the order of the document."""
        if self.member:
            yield from self._told_apart(node)
        elif isinstance(node, dict):
            yield from node.items()
        elif isinstance(node, list):
            yield from ((str(index), value) for index, value in enumerate(node))

    def _told_apart(self, node: Json) -> Iterator[tuple[str, Json]]:
        for value in node if isinstance(node, list) else ():
            name = value.get(self.member) if isinstance(value, dict) else None
            if isinstance(name, str) and name and self.equals in {None, name}:
                yield name, value


Step = str | int | Every

_STEP = re.compile(
    r"\.(?P<name>[^\s.\[\]'\"*?@,()]+)"
    r"|(?P<every>\.\*|\[\*\])"
    r"|\[(?P<index>0|-?[1-9][0-9]{0,8})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]"
    r'|\["(?P<double>(?:[^"\\]|\\.)*)"\]'
    r"|\[(?P<member>[A-Za-z_][\w-]*)=(?:\*|'(?P<equals>(?:[^'\\]|\\.)+)')\]"
)
_ESCAPE = re.compile(r"\\(.)")
PLAIN_MEMBER = re.compile(r"[A-Za-z_][\w-]*")
"""A member by which the elements of an array can be told apart."""

_PLAIN_NAME = re.compile(r"[^\s.\[\]'\"*?@,()]+")


@dataclass(frozen=True, slots=True)
class JsonPath:
    """Member names, element indices and wildcards.

    `is_singular`: it leads to one value at most; `is_plain`: it has names and indices alone.

    >>> JsonPath.compile("$.a[0]['c d']").steps
    ('a', 0, 'c d')
    """

    steps: tuple[Step, ...]
    is_singular: bool = True
    is_plain: bool = False

    @classmethod
    def compile(cls, text: str) -> "JsonPath":
        """Raises ValueError, with the place and reason."""
        if len(text) > MAX_PATH_CHARS:
            raise ValueError(f"a path has at most {MAX_PATH_CHARS} characters")
        if not text.startswith("$"):
            raise ValueError("a path begins with $")
        steps: list[Step] = []
        position = 1
        while position < len(text):
            step = _STEP.match(text, position)
            if step is None:
                raise ValueError(_syntax_defect(text, position))
            steps.append(_step_value(step))
            position = step.end()
        many = any(isinstance(step, Every) and step.equals is None for step in steps)
        is_plain = not any(isinstance(step, Every) for step in steps)
        return cls(tuple(steps), not many, is_plain)

    def find(self, document: Json) -> Json | Absent:
        """What stands at a singular path, or ABSENT.

        A step into the wrong kind of value leads nowhere. Of a path with wildcards: the first.
        """
        node = document
        for step in self.steps:
            if type(step) is str:
                if type(node) is not dict or step not in node:
                    return ABSENT
                node = node[step]
            elif type(step) is int:
                if type(node) is not list or not -len(node) <= step < len(node):
                    return ABSENT
                node = node[step]
            else:
                return next((value for _, value in self.find_all(document)), ABSENT)
        return node

    def find_all(self, document: Json) -> list[tuple[str, Json]]:
        """Every value with its name, at most MAX_FOUND; linear in the document."""
        if self.is_plain:
            value = self.find(document)
            return [] if isinstance(value, Absent) else [("", value)]
        found = [("", document)]
        for step in self.steps:
            found = list(_further(found, step))
        return found


def member_step(key: str) -> str:
    """The step to the member `key`, in the spelling that `compile` reads."""
    if _PLAIN_NAME.fullmatch(key):
        return f".{key}"
    return "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def leaves(node: Json, path: str = "$", name: str = "") -> Iterator[tuple[str, str, Json]]:
    """Path, last member name and value of each value that is no object, array or null."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, path + member_step(key), key)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from leaves(value, f"{path}[{index}]", name)
    elif node is not None:
        yield path, name, node


def _further(found: list[tuple[str, Json]], step: Step) -> Iterator[tuple[str, Json]]:
    if not isinstance(step, Every):
        single = JsonPath((step,))
        reached = ((name, single.find(node)) for name, node in found)
        yield from ((name, node) for name, node in reached if not isinstance(node, Absent))
        return
    count = 0
    for name, node in found:
        for key, value in step.children(node):
            yield (f"{name}.{key}" if name else key), value
            count += 1
            if count == MAX_FOUND:
                return


def _step_value(step: re.Match[str]) -> Step:
    kind = step.lastgroup
    if kind == "every":
        return Every()
    if kind in {"member", "equals"}:
        equals = step.group("equals")
        return Every(step.group("member"), None if equals is None else _ESCAPE.sub(r"\1", equals))
    text = step.group(kind or 0)
    if kind == "index":
        return int(text)
    return text if kind == "name" else _ESCAPE.sub(r"\1", text)


def _syntax_defect(text: str, position: int) -> str:
    rest = text[position:]
    if rest.startswith(("..", "[?", ".[")) or re.match(r"\[[^'\"\]]*[:,]", rest):
        return f"character {position}: descendants, slices and filters are not supported"
    return f"character {position}: a path goes on with .name, ['name'], [number], .* or [*]"
