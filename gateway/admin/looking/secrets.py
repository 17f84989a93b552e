"""What is never told of settings and log lines: passwords, tokens, keys, what URLs carry of them.

Place: before a setting or a log line is told to somebody. What is written to the log has no secrets
by itself (`tests/gateway/security/test_logs.py`); this is for what libraries and addresses say.
Linear in the text.
"""

import re

HIDDEN = "***"

_NAMED = re.compile(r"passw|secret|token|key|credential", re.IGNORECASE)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s\"'<>]+")
_BEARER = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+", re.IGNORECASE)
_TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,2}")
_HASH = re.compile(r"\$argon2[^\s\"',;]*")
_ASSIGNED = re.compile(
    r"((?:passw(?:or)?d|secret|token|credentials|api_?key)[\"']?\s*[=:]\s*)"
    r"(\"[^\"]*\"|'[^']*'|[^\s,;\"'}&]+)",
    re.IGNORECASE,
)


def names_secret(name: str) -> bool:
    """Whether a setting of this name may have a secret as its text."""
    return _NAMED.search(name) is not None


def bared(text: str) -> str:
    """A text without what could be a secret in it.

    >>> bared("ship to https://me:pw@host/x?sig=1 password=abc")
    'ship to https://***@host/x?*** password=***'
    """
    text = _URL.sub(lambda found: _bare_url(found[0]), text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    text = _HASH.sub(HIDDEN, _TOKEN.sub(HIDDEN, text))
    return _ASSIGNED.sub(rf"\g<1>{HIDDEN}", text)


def _bare_url(url: str) -> str:
    """Without user information, and without the query; what could be either is."""
    scheme, _, rest = url.partition("://")
    _, sign, place = rest.rpartition("@")
    if sign:
        rest = f"{HIDDEN}@{place}"
    bare, sign, query = rest.partition("?")
    return f"{scheme}://{bare}{sign}{HIDDEN if query else ''}"
