"""Literals that a careless device or an enemy sends: ill-typed, huge, odd, of every datatype.

Place: under the oracle tests of the engine, beside the well-formed ones of `query_writer`. No value
means the same to Python as to the store until a test has said so.
"""

from pyoxigraph import Literal, NamedNode

from gateway.rdf.namespaces import XSD

_FORMS = {
    "integer": (
        *("bad", "", " 10 ", "1_0", "+1", "-0", "٣", "1.0", "1e2", "TRUE"),
        *("9223372036854775807", "9223372036854775808", "-9223372036854775808"),
        *("18446744073709551615", "0000000000000000000000001", "9" * 40),
    ),
    "decimal": (
        *("1e2", "INF", "NaN", ".", ".5", "5.", "+0.0", " 1.5", "1_0.5", "0.0000000000000000001"),
        *("0.000000000000000001", "1.10000000000000000000", "170141183460469231731"),
        *("170141183460469231732", "99999999999999999999.5"),
    ),
    "double": ("INF", "-INF", "NaN", "-0.0e0", "1e400", "1_0e1", "infinity", "nan", "5e-324"),
    "float": ("INF", "NaN", "16777217", "1e39", "0.1", "bad"),
    "boolean": ("TRUE", "0", "1", " true", "yes", ""),
    "dateTime": (
        *("2020-01-01T00:00:00.1234567890123456789Z", "2020-01-01T00:00:00.50Z", "2020-02-30"),
        *("2020-01-01T00:00:00", "2020-01-01T24:00:00Z", "0000-01-01T00:00:00Z", "20200101T00Z"),
        *("-0001-01-01T00:00:00Z", "12020-01-01T00:00:00Z", "2020-01-01T00:00:00+14:00"),
    ),
    "date": ("2020-01-01", "2020-02-30", "2020-01-01Z"),
    "time": ("12:00:00", "25:00:00", "12:00:00Z"),
    "dayTimeDuration": ("P1D", "PT0S", "P1M", "bad"),
    "yearMonthDuration": ("P1M", "P1D"),
    "byte": ("1", "300", "bad"),
    "unsignedLong": ("18446744073709551615", "-1"),
    "nonNegativeInteger": ("1", "-1"),
    "string": ("", " ", "\ud7ff\U0010ffff", '"\\\n\t'),
    "anyURI": ("urn:a", "not an iri"),
    "unknown": ("1", ""),
}

ODD_LITERALS = (
    *(
        Literal(form, datatype=NamedNode(XSD + datatype))
        for datatype, forms in _FORMS.items()
        for form in forms
    ),
    Literal("1", datatype=NamedNode("urn:datatype")),
    Literal("", language="en"),
    Literal("v", language="en-GB"),
)

ODD_TEXTS = tuple(map(str, ODD_LITERALS))
"""The same, as they stand in SPARQL."""
