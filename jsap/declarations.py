"""`forcedBindings` of a file turned into `ForcedBinding`s, with warnings about what is odd.

Place: between a file's entries and their templates. Source: JSAP, and what shipped profiles have:
numbers for texts, `xsd:DateTime`, values that are not of their datatype. Those are warnings.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pyoxigraph import Literal, NamedNode

from jsap.errors import JsapError
from jsap.file_format import BindingPart
from jsap.forced_bindings import BindingType, ForcedBinding
from jsap.namespaces import XSD, iri

_COMMON = ("boolean", "dateTime", "dateTimeStamp", "decimal", "double", "integer", "string")
_BY_LOWER_CASE = {name.lower(): name for name in _COMMON}


def declared(
    part: BindingPart, namespaces: Mapping[str, str], path: str
) -> tuple[ForcedBinding, list[str]]:
    """The declaration at the JSON path `path`, and the warnings about it.

    A value that does not fit is left out, so it has to be given. Raises JsapError for a datatype
    that is no IRI, and for one beside a language.
    """
    warnings: list[str] = []
    expand = partial(iri, namespaces=namespaces)
    binding = ForcedBinding(part.binding_type, expand_iri=expand)
    if part.binding_type is BindingType.LITERAL:
        datatype = _datatype(part, namespaces, path)
        warnings += _datatype_warnings(datatype, path)
        binding = replace(binding, datatype=datatype, language=_language(part, path))
    elif part.datatype or part.language:
        warnings.append(f"{path}: only a literal has a datatype or a language")
    return _with_default(binding, part, path, warnings), warnings


def _datatype(part: BindingPart, namespaces: Mapping[str, str], path: str) -> NamedNode | None:
    if not part.datatype:
        return None
    if part.language:
        raise JsapError(path, "a datatype and a language", "keep one of the two")
    try:
        return iri(part.datatype, namespaces)
    except ValueError as error:
        raise JsapError(f"{path}.datatype", str(error), "correct it") from error


def _language(part: BindingPart, path: str) -> str | None:
    if not part.language:
        return None
    try:
        return Literal("", language=part.language).language
    except ValueError as error:
        raise JsapError(f"{path}.language", str(error), "write a tag as `en-GB`") from error


def _datatype_warnings(datatype: NamedNode | None, path: str) -> list[str]:
    if datatype is None:
        return []
    if not datatype.value.startswith(("http", "urn:", "tag:")):
        return [f"{path}.datatype: {datatype} looks like a prefixed name; declare its prefix"]
    name = datatype.value.removeprefix(XSD)
    meant = _BY_LOWER_CASE.get(name.lower(), name)
    return [] if meant == name else [f"{path}.datatype: no xsd:{name}; xsd:{meant} is meant"]


def _with_default(
    binding: ForcedBinding, part: BindingPart, path: str, warnings: list[str]
) -> ForcedBinding:
    value = part.value
    # an empty text is how profiles write "to be given" for what cannot be empty
    if value is None or (value == "" and part.binding_type is not BindingType.LITERAL):
        return binding
    if not isinstance(value, str):
        warnings.append(f"{path}.value: write it as a text")
        value = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return replace(binding, default=binding.term(value))
    except ValueError as error:
        warnings.append(f"{path}.value: {error}; it is not used")
        return binding
