"""The command line of the archive: `python -m spark_batch JOB --archive FOLDER …`.

The same under `spark-submit main.py JOB …` and `sosa-gateway archive JOB …`. Progress goes to
standard error, the summary as JSON to standard output; exit codes are those of `errors`.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from py4j.protocol import Py4JError

from spark_batch.archive import Archive
from spark_batch.bench import command as bench
from spark_batch.errors import ArchiveError
from spark_batch.jobs import upkeep
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.export_contents import CONTENTS
from spark_batch.jobs.export_rdf import FORMATS, Export, export_rdf
from spark_batch.jobs.ingest import Ingest
from spark_batch.jobs.quality import Quality
from spark_batch.jobs.query import Question, query
from spark_batch.jobs.replay import Replay, replay, write_mappings
from spark_batch.jobs.rounds import Rounds, Wanted
from spark_batch.landing import landing_zone
from spark_batch.replay.mqtt import Broker, MqttReceiver
from spark_batch.replay.receiver import Receiver
from spark_batch.replay.selection import Selection
from spark_batch.replay.senml import DEFAULT_TOPIC, check_topic
from spark_batch.replay.updates import Endpoint, UpdateReceiver
from spark_batch.session import Sessions, is_interrupted, keep_classes, spark_session
from spark_batch.summary import Progress, Summary, tell_nobody, tell_stderr
from spark_batch.tools.fleet import Fleet
from spark_batch.transforms.shape import load_shapes

INTERRUPTED = 130
"""What ended by Ctrl-C exits with, as under a shell."""

Job = Callable[[argparse.Namespace], Summary]
_Jobs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one job; returns the exit code."""
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    try:
        summary = options.run(options)
        summary.seconds = time.monotonic() - started
        _tell(options, summary)
        if options.is_listing:
            keep_classes(_progress(options))
    except ArchiveError as error:
        sys.stderr.write(f"error: {error.description}\n")
        if error.hint:
            sys.stderr.write(f"what to do: {error.hint}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Py4JError as error:
        if is_interrupted(error):
            return INTERRUPTED
        raise
    code: int = summary.exit_code
    return code


def _tell(options: argparse.Namespace, summary: Summary) -> None:
    to = options.summary_to()
    to.write(summary.to_json() + "\n")
    to.flush()
    if options.metrics is not None:
        summary.write_metrics(options.metrics)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("spark_batch", description="Jobs on the observation archive.")
    jobs = parser.add_subparsers(title="jobs", metavar="JOB", required=True)
    added = (
        _add_run,
        _add_ingest,
        _add_derived,
        _add_query,
        _add_replay,
        _add_upkeep,
        _add_fleet,
        _add_bench,
    )
    for add in added:
        add(jobs)
    return parser


def _job(jobs: _Jobs, name: str, run: Job, purpose: str) -> argparse.ArgumentParser:
    parser = jobs.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(run=run, summary_to=lambda: sys.stdout, is_listing=False)
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="write Prometheus text")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser


def _archive_job(jobs: _Jobs, name: str, run: Job, purpose: str) -> argparse.ArgumentParser:
    parser = _job(jobs, name, run, purpose)
    parser.add_argument("--archive", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        type=_setting,
        metavar="KEY=VALUE",
        help="a setting of Spark, such as spark.driver.memory=4g; may be repeated",
    )
    return parser


def _add_run(jobs: _Jobs) -> None:
    parser = _archive_job(jobs, "run", _run, "ingest, rollup and quality, once or again and again")
    _add_landing(parser)
    parser.add_argument(
        "--every", type=_duration, metavar="TIME", help="again after 30s, 15m, 1h, 1d"
    )
    _add_report(parser)
    parser.set_defaults(is_listing=True)
    _add_hold(parser)


def _add_ingest(jobs: _Jobs) -> None:
    _add_landing(_archive_job(jobs, "ingest", _ingest, "take up new segments, each line once"))


def _add_landing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--landing", required=True, metavar="FOLDER|URI", help="where gateways ship segments to"
    )


def _add_hold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hold", type=_positive, default=3600, metavar="S", help="how long a value holds at most"
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", type=date.fromisoformat, default=date.min, metavar="DATE")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="a page for the browser")
    labels = "what things are called in it: rdfs:label of a gateway's graph"
    parser.add_argument("--labels", type=Path, metavar="FILE.ttl", help=labels)


def _add_derived(jobs: _Jobs) -> None:
    parser = _archive_job(jobs, "rollup", _rollup, "minutes, hours and days of each stream")
    parser.add_argument("--full", action="store_true", help="compute every day anew")
    _add_hold(parser)

    parser = _archive_job(jobs, "quality", _quality, "gaps, silence, spikes, drifting clocks ...")
    _add_report(parser)

    parser = _archive_job(jobs, "export-rdf", _export_rdf, "the archive as gzipped RDF")
    parser.add_argument("--of", choices=CONTENTS, default="observations", help="what of it")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--format", choices=FORMATS, default="nquads")
    parser.add_argument("--since", type=date.fromisoformat, default=date.min, metavar="DATE")
    parser.add_argument(
        "--until",
        type=date.fromisoformat,
        default=date.max,
        metavar="DATE",
        help="and not that day",
    )
    parser.add_argument("--profile", type=Path, metavar="FILE.jsap", help="of another shape")


def _add_query(jobs: _Jobs) -> None:
    parser = _archive_job(jobs, "query", _query, "answer a SPARQL SELECT over the observations")
    parser.add_argument("query", metavar="QUERY|FILE.rq", help="a SELECT, or a file that has one")
    parser.add_argument("--json", dest="form", action="store_const", const="json", default="table")
    parser.add_argument("--csv", dest="form", action="store_const", const="csv")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the answer; default: printed")
    parser.add_argument("--explain", action="store_true", help="say what would be read, and how")
    parser.add_argument("--profile", type=Path, metavar="FILE.jsap", help="of another shape")
    # The answer has standard output for itself.
    parser.set_defaults(summary_to=lambda: sys.stderr)


def _add_replay(jobs: _Jobs) -> None:
    parser = _archive_job(jobs, "replay", _replay, "send observations to a broker or a gateway")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--mqtt", metavar="URL", help="as SenML, to mqtt[s]://[user@]host[:port]")
    target.add_argument("--update", metavar="URL", help="as UPDATEs, to a gateway's /update")
    for name in ("since", "until"):
        parser.add_argument(f"--{name}", type=_moment, metavar="TIME", help="ISO 8601, else UTC")
    for name in ("gateway", "sensor", "property", "feature"):
        parser.add_argument(f"--{name}", action="append", default=[], help="may be repeated")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N|max", help="times real time; default: 1"
    )
    parser.add_argument("--batch", type=_positive, default=100, help="observations; default: 100")
    parser.add_argument("--position", type=Path, metavar="FILE", help="where to go on, kept there")
    parser.add_argument("--topic", default=DEFAULT_TOPIC, help=f"default: {DEFAULT_TOPIC}")
    parser.add_argument(
        "--mappings", type=Path, metavar="FILE.jsap", help="write mappings for --mqtt"
    )
    parser.add_argument("--profile", type=Path, metavar="FILE.jsap", help="of another shape")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a bearer token")
    parser.add_argument("--ca", type=Path, metavar="FILE.pem", help="a certificate to trust")
    parser.add_argument(
        "--timeout", type=_positive, default=60, metavar="S", help="without an acknowledgement"
    )


def _add_upkeep(jobs: _Jobs) -> None:
    parser = _archive_job(jobs, "compact", _compact, "make few large files of many small ones")
    parser.add_argument("--files", type=_positive, default=4, help="leave days with so many")
    parser.add_argument("--rows", type=_positive, default=4_000_000, help="rows of a file")
    parser = _archive_job(jobs, "retain", _retain, "drop observations older than some days")
    parser.add_argument("--days", type=_positive, required=True, help="how many to keep")
    parser = _archive_job(jobs, "vacuum", _vacuum, "remove files that nothing refers to")
    parser.add_argument(
        "--hours", type=float, default=168.0, help="of older versions stay readable; default: 168"
    )


def _add_fleet(jobs: _Jobs) -> None:
    parser = _job(jobs, "fleet", _fleet, "write the segments of simulated gateways, with faults")
    parser.add_argument("--landing", type=Path, required=True, metavar="FOLDER")
    for name in ("gateways", "sensors", "days", "interval_s", "lines"):
        default = getattr(Fleet(), name)
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=_positive, default=default, help=f"default: {default}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-faults", action="store_true", help="a landing zone without faults")
    parser.add_argument("--start", type=date.fromisoformat, help="first day; default: 2026-09-01")


def _add_bench(jobs: _Jobs) -> None:
    purpose = "what the archive costs, beside DuckDB and Polars doing the same"
    bench.add_options(_job(jobs, "bench", _bench, purpose))


def _run(options: argparse.Namespace) -> Summary:
    """With `--every` each round is told when it ends, and nothing but an error ends them."""
    wanted = Wanted(options.hold, options.since, options.report, options.labels)
    archive, landing = Archive(options.archive), landing_zone(options.landing)
    progress = _progress(options)
    rounds = Rounds(archive, landing, _sessions(options), wanted, progress)
    if options.every is None or options.dry_run:
        return rounds.run(dry_run=options.dry_run)

    def tell(summary: Summary) -> None:
        _tell(options, summary)
        keep_classes(progress)

    return rounds.every(options.every, tell)


def _ingest(options: argparse.Namespace) -> Summary:
    archive, landing = Archive(options.archive), landing_zone(options.landing)
    job = Ingest(archive, landing, _sessions(options), _progress(options))
    return job.dry_run() if options.dry_run else job.run()


def _rollup(options: argparse.Namespace) -> Summary:
    job = Rollup(Archive(options.archive), _sessions(options), _progress(options), options.hold)
    return job.run(full=options.full, dry_run=options.dry_run)


def _quality(options: argparse.Namespace) -> Summary:
    job = Quality(Archive(options.archive), _sessions(options), _progress(options))
    return job.run(options.since, options.report, labels=options.labels, dry_run=options.dry_run)


def _export_rdf(options: argparse.Namespace) -> Summary:
    export = Export(
        options.out, options.format, options.since, options.until, options.profile, options.of
    )
    archive, dry_run = Archive(options.archive), options.dry_run
    return export_rdf(archive, _sessions(options), export, _progress(options), dry_run=dry_run)


def _query(options: argparse.Namespace) -> Summary:
    question = Question(_text(options.query), options.form, options.out, options.profile)
    return query(
        Archive(options.archive),
        _sessions(options),
        question,
        _progress(options),
        explain=options.explain,
        dry_run=options.dry_run,
    )


def _replay(options: argparse.Namespace) -> Summary:
    archive, sessions = Archive(options.archive), _sessions(options)
    names = (options.gateway, options.sensor, options.property, options.feature)
    selection = Selection(options.since, options.until, *map(tuple, names))
    if options.mappings is not None:
        write_mappings(archive, sessions, selection, options.mappings, check_topic(options.topic))
    shapes = load_shapes(options.profile) if options.mqtt is None else None
    wanted = Replay(selection, options.speed, options.batch, options.position, shapes)
    dry_run, progress = options.dry_run, _progress(options)
    return replay(archive, sessions, _receiver(options), wanted, progress, dry_run=dry_run)


def _receiver(options: argparse.Namespace) -> Callable[[], Receiver]:
    if options.mqtt is not None:
        broker = Broker.parse(options.mqtt)
        return lambda: MqttReceiver(broker, options.topic, options.timeout, options.ca)
    endpoint = Endpoint(options.update, options.token_file, options.ca, options.timeout)
    return lambda: UpdateReceiver(endpoint)


def _text(given: str) -> str:
    """A query, or the text of the file that has it."""
    if "{" in given:
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(
            f"{given!r} is neither a query nor a file with one: {error}", "give one of them"
        ) from error


def _compact(options: argparse.Namespace) -> Summary:
    return upkeep.compact(
        Archive(options.archive),
        _sessions(options),
        upkeep.Compaction(options.files, options.rows),
        _progress(options),
        dry_run=options.dry_run,
    )


def _retain(options: argparse.Namespace) -> Summary:
    before = datetime.now(UTC).date() - timedelta(days=options.days)
    return upkeep.retain(Archive(options.archive), before, dry_run=options.dry_run)


def _vacuum(options: argparse.Namespace) -> Summary:
    return upkeep.vacuum(Archive(options.archive), options.hours, dry_run=options.dry_run)


def _fleet(options: argparse.Namespace) -> Summary:
    fleet = Fleet(
        options.gateways,
        options.sensors,
        options.days,
        options.interval_s,
        options.lines,
        options.seed,
        not options.no_faults,
        options.start or Fleet().start,
    )
    return Summary("fleet", rows_out=len(fleet.write(options.landing)))


def _bench(options: argparse.Namespace) -> Summary:
    return bench.run(options, _progress(options))


def _sessions(options: argparse.Namespace) -> Sessions:
    settings, is_listing = dict(options.conf), options.is_listing
    return lambda rows: spark_session("sosa-archive", settings, rows, is_listing=is_listing)


def _progress(options: argparse.Namespace) -> Progress:
    return tell_nobody if options.quiet else tell_stderr


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not spark.KEY=VALUE")
    return key, value


def _moment(text: str) -> datetime:
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no date or time of ISO 8601") from error
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither `max` nor a number above 0")
    return speed


def _duration(text: str) -> int:
    """Seconds.

    >>> _duration("15m")
    900
    """
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:], 0)
    number = text[:-1]
    if not seconds or not number.isdecimal() or not 0 < int(number) * seconds <= 366 * 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 30s, 15m, 1h or 1d")
    return int(number) * seconds


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
