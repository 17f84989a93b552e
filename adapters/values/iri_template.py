"""IRI templates of a mapping: `{1}`, `{2}` ... for what wildcards matched, `{name}` for SenML.

`{$.id}` stands for what is at that path of the message, in formats whose payload is a document.
What is filled in is percent-encoded down to RFC 3987's iunreserved characters, so a topic cannot
add a segment, a query or a fragment to an IRI, nor end it; `.` and `..` are encoded too, because
a resolver would take them as path steps (RFC 3986, 5.2.4). Two placeholders side by side or with
only an unreserved character between them can give one IRI for two topics: put `/` between them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAME = "{name}"

_PLACEHOLDER = re.compile(r"\{([1-9][0-9]{0,2}|name|\$[^{}]{1,200})\}")
_MEMBER = re.compile(r"\{(\$[^{}]{1,200})\}")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IRI = re.compile(
    r'[\x00-\x20<>"{}|\\^`\x7f-\x9f\ud800-\udfff\ue000-\uf8ff]|%(?![0-9A-Fa-f]{2})'
)
_PLANES = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
# iunreserved without the direction marks, which RFC 3987 section 4.1 keeps out of IRIs.
_RESERVED = re.compile(
    "[^A-Za-z0-9._~\\-"
    "\u00a0-\u200d\u2010-\u2029\u202f-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    f"{_PLANES}\U000e1000-\U000efffd]"
)


def iri_defect(text: str) -> str:
    """Why `text` is no absolute IRI; empty when it is one."""
    if not _ABSOLUTE.match(text):
        return "an absolute IRI begins with a scheme"
    illegal = _NOT_IRI.search(text)
    return f"{illegal.group()!a} is no character of an IRI" if illegal else ""


def percent_encoded(text: str) -> str:
    """`text` as one piece of an IRI.

    >>> percent_encoded("a/b?c é"), percent_encoded("..")
    ('a%2Fb%3Fc%20é', '%2E%2E')
    """
    if text in {".", ".."}:
        return "%2E" * len(text)
    return _RESERVED.sub(_encoded, text)


def _encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class IriTemplate:
    """A compiled template: constant texts and, between them, indices of wildcards.

    >>> IriTemplate.compile("urn:dev:{1}:{name}", wildcards=1, names=True).fill(["a b"])
    'urn:dev:a%20b:{name}'
    """

    constants: tuple[str, ...]
    indices: tuple[int, ...]

    @classmethod
    def compile(
        cls, text: str, wildcards: int, names: bool, *, members: bool = False
    ) -> "IriTemplate":
        """Raises ValueError, with the reason.

        `names` and `members` say whether `{name}` and `{$.id}` are allowed.
        """
        pieces = _PLACEHOLDER.split(text)
        _refuse_defects(text, pieces, wildcards, names, members)
        constants, indices = [pieces[0]], []
        for key, constant in zip(pieces[1::2], pieces[2::2], strict=True):
            if key == "name" or key.startswith("$"):
                constants[-1] += f"{{{key}}}{constant}"
            else:
                indices.append(int(key) - 1)
                constants.append(constant)
        return cls(tuple(constants), tuple(indices))

    def fill(self, captures: Sequence[str]) -> str:
        """The IRI with its wildcards filled in.

        `{name}` and `{$.id}` stay, unmistakably, for `fill_name` and `fill_members`.
        """
        iri = self.constants[0]
        for index, constant in zip(self.indices, self.constants[1:], strict=True):
            iri += percent_encoded(captures[index]) + constant
        return iri


def fill_name(iri: str, name: str) -> str:
    """`iri` with `name` in place of `{name}`; no other brace can stand in a filled template."""
    return iri.replace(NAME, percent_encoded(name)) if NAME in iri else iri


def members_of(text: str) -> tuple[str, ...]:
    """The paths that stand in braces in a template, each once.

    >>> members_of("urn:{1}:{$.model}:{$.id}:{$.model}")
    ('$.model', '$.id')
    """
    return tuple(dict.fromkeys(_MEMBER.findall(text)))


def fill_members(iri: str, values: Mapping[str, str]) -> str:
    """`iri` with the values of `values` in place of their paths; it has no others."""
    if "{$" not in iri:
        return iri
    return _MEMBER.sub(lambda found: percent_encoded(values[found[1]]), iri)


def _refuse_defects(
    text: str, pieces: Sequence[str], wildcards: int, names: bool, members: bool
) -> None:
    if not _ABSOLUTE.match(pieces[0]):
        raise ValueError("the scheme of an IRI stands before its first placeholder")
    defect = iri_defect(_PLACEHOLDER.sub("x", text))
    if defect:
        raise ValueError(defect)
    for key in pieces[1::2]:
        if key == "name" and not names:
            raise ValueError("{name} is the name of a SenML record; this format has none")
        if key.startswith("$") and not members:
            raise ValueError(f"{{{key}}} is a path, and payloads of this format have none")
        if key.isdigit() and int(key) > wildcards:
            raise ValueError(f"{{{key}}}: the topic filter has {wildcards} wildcards")
