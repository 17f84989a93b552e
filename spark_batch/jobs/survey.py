"""What the landing zone has that the archive has not: the first step of `ingest`, without Spark.

Every new segment's bytes are checked against its name; what fails goes into quarantine. Segments
that the ledger covers are not even opened, so an idle run reads nothing but a listing.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from spark_batch.landing import Found, Landing
from spark_batch.plan import Checked, Ledger
from spark_batch.quarantine import Quarantine, Report
from spark_batch.segment import Fault, SegmentName, check, read_gap


@dataclass(slots=True)
class Survey:
    """The files of a landing zone, sorted by what is to be done with them."""

    good: list[Checked] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    gaps: list[tuple[str, str]] = field(default_factory=list)
    faults: list[tuple[Found, Fault]] = field(default_factory=list)


def survey(landing: Landing, ledger: Ledger, quarantine: Quarantine) -> Survey:
    """Look at every file; changes nothing. What vanished or is in quarantine is passed over."""
    result = Survey()
    fresh: list[tuple[Found, SegmentName]] = []
    for found in landing.files():
        try:
            segment = SegmentName.parse(found.name)
        except Fault as fault:
            result.faults.append((found, fault))
            continue
        if not segment.is_gap and not ledger.new_lines(segment):
            result.repeated.append(found.name)
        elif not segment.is_gap or found.name not in ledger.gaps:
            fresh.append((found, segment))
    _check_all(landing, quarantine, fresh, result)
    return result


def _check_all(
    landing: Landing,
    quarantine: Quarantine,
    fresh: Iterable[tuple[Found, SegmentName]],
    result: Survey,
) -> None:
    def look(each: tuple[Found, SegmentName]) -> Checked | tuple[str, str] | Fault | None:
        return _look(landing, quarantine, *each)

    # SHA-256 lets go of the interpreter lock, and a remote landing zone makes us wait.
    with ThreadPoolExecutor(4, "survey") as pool:
        for (found, _), outcome in zip(fresh, pool.map(look, fresh), strict=True):
            match outcome:
                case Checked():
                    result.good.append(outcome)
                case Fault():
                    result.faults.append((found, outcome))
                case (name, reason):
                    result.gaps.append((name, reason))


def _look(
    landing: Landing, quarantine: Quarantine, found: Found, segment: SegmentName
) -> Checked | tuple[str, str] | Fault | None:
    try:
        with landing.open(found.place) as file:
            if segment.is_gap:
                return (found.name, read_gap(segment, file.read(1 << 20)))
            header, sha256 = check(segment, file)
            if quarantine.has(sha256, found.name):
                return None  # well sealed and wrong inside, as an earlier run found
            return Checked(segment, found.place, header.minor, header.base, header.labels)
    except Fault as fault:
        return fault
    except FileNotFoundError:
        return None
    except OSError as error:
        return Fault("unreadable", str(error))


def quarantine_all(
    quarantine: Quarantine, landing: Landing, faults: Iterable[tuple[str, Fault]]
) -> list[Report]:
    """Keep what has a fault; the reports of those that were not known yet."""
    reports: list[Report] = []
    for place, fault in faults:
        try:
            report = quarantine.put(landing, place, fault)
        except FileNotFoundError:
            continue
        if report is not None:
            reports.append(report)
    return reports
