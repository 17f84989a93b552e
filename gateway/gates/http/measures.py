"""What is counted of HTTP requests."""

from gateway.gates.http.request_load import RequestStatistics
from gateway.runtime.measures import Histogram, Measure
from gateway.runtime.strangers import STRANGERS


def request_measures(seen: RequestStatistics) -> tuple[Measure, ...]:
    """Answers by status, and those under way."""
    return (
        Measure("http_responses", "HTTP answers by status", lambda: seen.statuses, label="status"),
        Measure("strangers", "what unknown peers did", lambda: STRANGERS.counts, label="did"),
        Measure("http_requests_refused", "beyond the limits", lambda: seen.refused),
        Measure(
            "http_requests_under_way", "not yet answered", lambda: seen.under_way, is_counter=False
        ),
    )


def request_times(seen: RequestStatistics) -> Histogram:
    """How long requests take."""
    return Histogram(
        "http_request_seconds",
        "from a request to the beginning of its answer, by first segment of its path",
        "path",
        lambda: seen.times,
    )
