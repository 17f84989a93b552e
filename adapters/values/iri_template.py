"""IRI templates of a mapping: `{1}`, `{2}` ... for what wildcards matched, `{name}` for SenML.

What is filled in is percent-encoded down to RFC 3987's iunreserved characters, so a topic cannot
add a segment, a query or a fragment to an IRI, nor end it; `.` and `..` are encoded too, because
a resolver would take them as path steps (RFC 3986, 5.2.4). Two placeholders side by side or with
only an unreserved character between them can give one IRI for two topics: put `/` between them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

NAME = "{name}"

_PLACEHOLDER = re.compile(r"\{([1-9][0-9]{0,2}|name)\}")
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
    def compile(cls, text: str, wildcards: int, names: bool) -> "IriTemplate":
        """Raises ValueError, with the reason; `names` says whether `{name}` is allowed."""
        pieces = _PLACEHOLDER.split(text)
        _refuse_defects(text, pieces, wildcards, names)
        constants, indices = [pieces[0]], []
        for key, constant in zip(pieces[1::2], pieces[2::2], strict=True):
            if key == "name":
                constants[-1] += NAME + constant
            else:
                indices.append(int(key) - 1)
                constants.append(constant)
        return cls(tuple(constants), tuple(indices))

    def fill(self, captures: Sequence[str]) -> str:
        """The IRI with its wildcards filled in; `{name}` stays, unmistakably, for `fill_name`."""
        iri = self.constants[0]
        for index, constant in zip(self.indices, self.constants[1:], strict=True):
            iri += percent_encoded(captures[index]) + constant
        return iri


def fill_name(iri: str, name: str) -> str:
    """`iri` with `name` in place of `{name}`; no other brace can stand in a filled template."""
    return iri.replace(NAME, percent_encoded(name)) if NAME in iri else iri


def _refuse_defects(text: str, pieces: Sequence[str], wildcards: int, names: bool) -> None:
    if not _ABSOLUTE.match(pieces[0]):
        raise ValueError("the scheme of an IRI stands before its first placeholder")
    defect = iri_defect(_PLACEHOLDER.sub("x", text))
    if defect:
        raise ValueError(defect)
    for key in pieces[1::2]:
        if key == "name" and not names:
            raise ValueError("{name} is the name of a SenML record; this format has none")
        if key != "name" and int(key) > wildcards:
            raise ValueError(f"{{{key}}}: the topic filter has {wildcards} wildcards")
