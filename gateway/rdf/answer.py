"""`Answer`: the answer to a query as it is now, kept up to date by what it gains and loses."""

from collections import Counter
from collections.abc import Iterator

from gateway.rdf.solutions import ResultsDelta, SolutionBag
from gateway.rdf.terms import Term


class Answer:
    """A bag of rows; `variables` are their columns.

    >>> answer = Answer()
    >>> answer.change(ResultsDelta(("x",), added=((None,), (None,))))
    >>> answer.change(ResultsDelta(("x",), removed=((None,),)))
    >>> answer.rows, list(answer.fields())
    (Counter({(None,): 1}), [{'x': None}])
    """

    def __init__(self) -> None:
        self.variables: tuple[str, ...] = ()
        self.rows: SolutionBag = Counter()

    def change(self, results: ResultsDelta) -> None:
        """Take up what came and went. Linear in the answer."""
        self.variables = results.variables
        self.rows.update(results.added)
        self.rows.subtract(results.removed)
        self.rows += Counter()

    def fields(self) -> Iterator[dict[str, Term | None]]:
        """Each different row once, by its columns; None where one is unbound."""
        for row in self.rows:
            yield dict(zip(self.variables, row, strict=True))
