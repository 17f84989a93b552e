"""One department, enriched: the smallest data in which every channel but C02 has an answer."""

from functools import cache
from itertools import takewhile

from bench.sepbm.adapters.naive import Naive
from bench.sepbm.configuration import Configuration, configured
from bench.sepbm.enrich import enriched
from bench.sepbm.lubm import UNIV_BENCH_2004, universities
from bench.sepbm.queries import queries, reordered
from bench.sepbm.reference import Reference, reference_run

NAMESPACE = UNIV_BENCH_2004


@cache
def small() -> Configuration:
    """Two publications a channel."""
    told = takewhile(lambda each: "Department1." not in each[0], universities(1, NAMESPACE))
    return configured(enriched(told, NAMESPACE), 1, each=2, namespace=NAMESPACE)


@cache
def small_reference() -> Reference:
    """What they bring, by naive."""
    return reference_run(small(), Naive(NAMESPACE, reordered(NAMESPACE)), queries(NAMESPACE))
