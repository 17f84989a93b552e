"""The files of a profile read, from a folder or, where the caller allows it, from other hosts.

Place: before `includes` puts them together. Source: JSAP, `include`: names relative to the file
that includes, or `file:`, `http:` and `https:` URIs. What comes from the network names nothing on
this machine, and only hosts that the caller lists are asked, each time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from jsap.errors import JsapError
from jsap.file_format import profile_part, read_json
from jsap.includes import MergedFiles

Fetch = Callable[[str], str]
"""Gives the text at an http or https URL; raises OSError or ValueError. The caller bounds it."""

Opened = Callable[[Path], None]
"""Told of each file on this machine before it is read, be it there or not."""

_MOST_FILES = 100
_REMOTE = frozenset({"http", "https"})

_Place: TypeAlias = "Path | _Url"


@dataclass(frozen=True, slots=True)
class _Url:
    """The place of a remote file."""

    text: str

    def __str__(self) -> str:
        return self.text


def _refuse(url: str) -> str:
    raise ValueError(f"nothing is fetched; {url} needs load_profile(fetch=...)")


def _untold(path: Path) -> None:
    pass


@dataclass(slots=True)
class Files:
    """Reads a profile with all that it includes; `hosts` may be asked by `fetch`."""

    fetch: Fetch = _refuse
    hosts: frozenset[str] = frozenset()
    opened: Opened = _untold
    _read: int = field(default=0, init=False)

    def read(self, path: Path) -> MergedFiles:
        """Raises OSError for `path` itself, JsapError for everything else."""
        return self._merged(path, self._text_of(path), ())

    def _merged(self, place: _Place, text: str, including: tuple[_Place, ...]) -> MergedFiles:
        source = str(place)
        part, warnings = profile_part(read_json(text, source), source)
        told = warnings if not including else [f"{source}: {warning}" for warning in warnings]
        extended = _with_places(part.extended, place)
        merged = MergedFiles.of(part.model_copy(update={"extended": extended}), source, told)
        chain = (*including, _identity(place))
        for index, name in enumerate(part.include):
            try:
                included = self._included(place, name, chain)
                merged = merged.with_included(
                    self._merged(included, self._text_of(included), chain)
                )
            except JsapError as error:
                raise error.at(source) if error.source else _at(error, index, source) from error
            except (OSError, ValueError) as error:
                reason = f"{name} cannot be read: {getattr(error, 'strerror', None) or error}"
                what_to_do = "name a file that is there"
                raise JsapError(f"include[{index}]", reason, what_to_do, source) from error
        return merged

    def _included(self, place: _Place, name: str, chain: tuple[_Place, ...]) -> _Place:
        included = self._resolved(place, name)
        if _identity(included) in chain:
            raise JsapError("", f"{name} includes itself", "break the circle")
        return included

    def _resolved(self, place: _Place, name: str) -> _Place:
        """Where an included name is. Raises JsapError for what must not be asked."""
        if isinstance(place, _Url):
            return self._allowed(urldefrag(urljoin(place.text, name)).url)
        scheme = urlsplit(name).scheme
        if scheme == "file":
            return Path(unquote(urlsplit(name).path))
        return self._allowed(urldefrag(name).url) if len(scheme) > 1 else place.parent / name

    def _allowed(self, url: str) -> _Url:
        parts = urlsplit(url)
        if parts.scheme not in _REMOTE:
            reason = f"{parts.scheme or 'no'}: is no scheme for an include from here"
            raise JsapError("", reason, "use http or https")
        if parts.hostname not in self.hosts:
            raise JsapError("", f"the host {parts.hostname} is not allowed", "list it, or copy")
        return _Url(url)

    def _text_of(self, place: _Place) -> str:
        self._read += 1
        if self._read > _MOST_FILES:
            raise JsapError("", f"more than {_MOST_FILES} files", "include each once", str(place))
        if isinstance(place, _Url):
            return self.fetch(place.text)
        self.opened(place)
        try:
            return place.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start}"
            raise JsapError("", reason, "save it as UTF-8", str(place)) from error


def _identity(place: _Place) -> _Place:
    return place if isinstance(place, _Url) else Path(realpath(place))


def _with_places(extended: Any, place: _Place) -> Any:
    """The member `extended`, where ontologies that are files stand beside the file naming them."""
    words = extended.get("ontologies") if isinstance(extended, dict) else None
    if not isinstance(words, list):
        return extended
    located = [_ontology(word, index, place) for index, word in enumerate(words)]
    return {**extended, "ontologies": located}


def _ontology(word: object, index: int, place: _Place) -> object:
    if not isinstance(word, str) or _is_name(word):
        return word
    if isinstance(place, _Url):
        reason = f"{word} is a file, which nothing from the network may name"
        path = f"extended.ontologies[{index}]"
        raise JsapError(path, reason, "name it in a profile of this machine", str(place))
    return str(place.parent / word)


def _is_name(word: str) -> bool:
    """Whether it names an ontology that ships: a bare word."""
    return len(Path(word).parts) == 1 and not Path(word).suffix


def _at(error: JsapError, index: int, source: str) -> JsapError:
    return JsapError(f"include[{index}]", error.reason, error.what_to_do, source)
