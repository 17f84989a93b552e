"""The subset of SPARQL is one: what the plan of a query takes is what Spark has columns for."""

from jsap.shapes.subset import FORMS, FUNCTIONS
from spark_batch.sparql import expressions


def test_forms_and_functions_are_those_of_the_columns() -> None:
    assert set(expressions._FORMS) == FORMS
    assert {"BOUND", *expressions._BUILTINS} == FUNCTIONS
