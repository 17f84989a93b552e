"""The command line of `sosa-gateway bench`.

Each benchmark is a verb. Exit codes: 0 measured, 1 a wrong answer or a failure, 2 wrong usage, 130
interrupted.
"""

import argparse
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.apart import APART
from bench.benchmark import Benchmark, Measure
from bench.chat import chat
from bench.city import experiments, growth, parallel, scalability, shapes_run
from bench.city.streets import ROADS
from bench.ctp import ctp
from bench.families import families
from bench.federation import federation
from bench.federation import options as federation_options
from bench.homeassistant import homeassistant
from bench.http import fanout, http_updates, sensorthings
from bench.modbus import modbus
from bench.option_types import adapters, count
from bench.readings import expiry, ingest, journal, latency, notification_latency
from bench.readings.session import BROKERS
from bench.reasoning import reasoning
from bench.report import Experiment, Outcome, versions, write_json, write_text
from bench.sepbm import sepbm
from bench.sepbm.configuration import RESOURCES
from bench.windows import windows
from gateway.errors import GatewayError


def run(argv: list[str]) -> int:
    """Run one benchmark or all; `argv` is what follows `bench`. Returns the exit code."""
    options = _parser().parse_args(argv)
    measure: Measure = options.measure
    try:
        with _interrupted_by_sigterm():
            return _report(measure(options), as_json=options.json)
    except GatewayError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """End as Ctrl-C does, so that every process that was started is ended too."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _report(outcomes: Iterable[Outcome], *, as_json: bool) -> int:
    """Write each outcome as soon as it is there."""
    if not as_json:
        sys.stdout.write(", ".join(f"{name} {value}" for name, value in versions().items()) + "\n")
        sys.stdout.flush()
    write = write_json if as_json else write_text
    code = 0
    for outcome in outcomes:
        write(sys.stdout, outcome)
        if isinstance(outcome, Experiment) and not outcome.matches:
            code = 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("sosa-gateway bench", description="Measure this machine.")
    commands = parser.add_subparsers(title="benchmarks", metavar="BENCHMARK", required=True)
    every = dict.fromkeys(add for benchmark in BENCHMARKS for add in benchmark.options)
    everything = Benchmark("all", "all that take no folder and no browser", _all, tuple(every))
    for each in (*BENCHMARKS, *APART, everything):
        command = commands.add_parser(each.name, help=each.purpose, description=each.purpose)
        command.set_defaults(measure=each.measure)
        command.add_argument("--json", action="store_true", help="one JSON object an experiment")
        for add in (*each.own, *each.options):
            add(command)
    return parser


def _add_readings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--readings",
        type=count,
        metavar="N",
        help=f"default: {ingest.READINGS} for ingest, {latency.READINGS} for latency",
    )
    command.add_argument(
        "--broker", choices=[*BROKERS, "both"], default="both", help="default: both"
    )


def _add_seconds(command: argparse.ArgumentParser) -> None:
    default = notification_latency.SECONDS
    text = f"of updates by HTTP at each rate, for latency (default: {default})"
    command.add_argument("--seconds", type=count, default=default, metavar="S", help=text)


def _add_fanout(command: argparse.ArgumentParser) -> None:
    for name, default in (("--sockets", fanout.SOCKETS), ("--turns", fanout.ROUNDS)):
        text = f"for fanout (default: {default:,})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_observations(command: argparse.ArgumentParser) -> None:
    text = f"for journal (default: {journal.OBSERVATIONS:,})"
    command.add_argument(
        "--observations", type=count, default=journal.OBSERVATIONS, metavar="N", help=text
    )


def _add_rounds(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rounds", type=count, metavar="N", help="of all updates (default: lamp 5, road 1)"
    )


def _add_requests(command: argparse.ArgumentParser) -> None:
    text = f"of one turn, for http (default: {http_updates.REQUESTS:,})"
    command.add_argument(
        "--requests", type=count, default=http_updates.REQUESTS, metavar="N", help=text
    )


def _add_scalability(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--subscribers",
        type=count,
        default=scalability.SUBSCRIBERS,
        metavar="N",
        help=f"at most, for scalability (default: {scalability.SUBSCRIBERS:,})",
    )


def _add_parallel(command: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("--subscriptions", parallel.COARSE, "coarse ones"),
        ("--repeats", parallel.ROUNDS, "how often each road is updated"),
    ):
        text = f"{what}, for parallel (default: {default})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_growth(command: argparse.ArgumentParser) -> None:
    for name, default, what in (
        ("--fine", growth.FINE, "subscriptions of one lamp"),
        ("--coarse", growth.COARSE, "subscriptions of a road"),
        ("--triples", growth.TRIPLES, "triples"),
    ):
        text = f"{what}, for growth (default: {default:,})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_shapes(command: argparse.ArgumentParser) -> None:
    for name, default in (("--nodes", shapes_run.NODES), ("--updates", shapes_run.UPDATES)):
        text = f"for shapes (default: {default})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_chat(command: argparse.ArgumentParser) -> None:
    text = f"for chat (default: {chat.MESSAGES})"
    command.add_argument("--messages", type=count, default=chat.MESSAGES, metavar="N", help=text)


def _add_families(command: argparse.ArgumentParser) -> None:
    text = f"of each case, for families (default: {families.ROUNDS})"
    command.add_argument(
        "--case-rounds", type=count, default=families.ROUNDS, metavar="N", help=text
    )


def _add_homeassistant(command: argparse.ArgumentParser) -> None:
    for name, default in (("--streams", homeassistant.STREAMS), ("--turns-of", homeassistant.EACH)):
        text = f"for homeassistant (default: {default})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_modbus(command: argparse.ArgumentParser) -> None:
    for name, default in (("--devices", modbus.DEVICES), ("--modbus-seconds", modbus.SECONDS)):
        text = f"for modbus (default: {default})"
        command.add_argument(name, type=count, default=default, metavar="N", help=text)


def _add_roads(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--roads", type=count, default=ROADS, metavar="N", help=f"of the city's {ROADS}"
    )


def _add_universities(command: argparse.ArgumentParser) -> None:
    text = "of LUBM, for sepbm and reasoning (default: 1)"
    command.add_argument("--universities", type=count, default=1, metavar="N", help=text)


def _add_sepbm(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--adapter",
        type=adapters,
        default=sepbm.ADAPTERS,
        metavar="A,…",
        help=f"for sepbm: {', '.join(sepbm.ADAPTERS)}, sepa=URL (default: all but sepa)",
    )
    text = "for sepbm: together, each alone, or the two that the engine asks again (default: all)"
    command.add_argument("--channels", choices=sepbm.MODES, default="all", help=text)
    text = "whose descriptions sepbm publishes: of a row's first resource, of all (default: first)"
    command.add_argument("--resources", choices=RESOURCES, default="first", help=text)
    text = "who evaluates in full for the heuristics, for sepbm (default: naive)"
    command.add_argument("--truth", choices=sepbm.TRUTHS, default="naive", help=text)
    text = "write an HTML report into this folder, for sepbm"
    command.add_argument("--report", type=Path, metavar="DIR", help=text)


def _add_ctp(command: argparse.ArgumentParser) -> None:
    text = "for ctp: some points in minutes, the whole, or the paper's grid (default: quick)"
    command.add_argument("--extent", choices=ctp.EXTENTS, default="quick", help=text)


def _brokers(options: argparse.Namespace) -> Sequence[str]:
    return BROKERS if options.broker == "both" else (options.broker,)


def _ingest(options: argparse.Namespace) -> Iterator[Outcome]:
    return ingest.measure(options.readings or ingest.READINGS, _brokers(options))


def _latency(options: argparse.Namespace) -> Iterator[Outcome]:
    yield from latency.measure(options.readings or latency.READINGS, _brokers(options))
    yield from notification_latency.measure(options.seconds)
    yield expiry.measure(options.readings or expiry.READINGS)


def _fanout(options: argparse.Namespace) -> Iterator[Outcome]:
    return fanout.measure(options.sockets, options.turns)


def _journal(options: argparse.Namespace) -> Iterator[Outcome]:
    return journal.measure(options.observations)


def _http(options: argparse.Namespace) -> Iterator[Outcome]:
    return http_updates.measure(options.requests)


def _lamp(options: argparse.Namespace) -> Iterator[Outcome]:
    return experiments.measure("lamp", options.roads, options.rounds)


def _road(options: argparse.Namespace) -> Iterator[Outcome]:
    return experiments.measure("road", options.roads, options.rounds)


def _scalability(options: argparse.Namespace) -> Iterator[Outcome]:
    return scalability.measure(options.subscribers, options.roads)


def _parallel(options: argparse.Namespace) -> Iterator[Outcome]:
    return parallel.measure(options.subscriptions, options.repeats, options.roads)


def _growth(options: argparse.Namespace) -> Iterator[Outcome]:
    return growth.measure(options.fine, options.coarse, options.triples, options.roads)


def _families(options: argparse.Namespace) -> Iterator[Outcome]:
    return families.measure(options.case_rounds)


def _homeassistant(options: argparse.Namespace) -> Iterator[Outcome]:
    return homeassistant.measure(options.streams, each=options.turns_of)


def _modbus(options: argparse.Namespace) -> Iterator[Outcome]:
    return modbus.measure(options.devices, options.modbus_seconds)


def _federation(options: argparse.Namespace) -> Iterator[Outcome]:
    return federation.measure(federation_options.plan(options))


def _shapes(options: argparse.Namespace) -> Iterator[Outcome]:
    return shapes_run.measure(options.nodes, options.updates)


def _chat(options: argparse.Namespace) -> Iterator[Outcome]:
    return chat.measure(options.messages)


def _reasoning(options: argparse.Namespace) -> Iterator[Outcome]:
    return reasoning.measure(options.universities)


def _sepbm(options: argparse.Namespace) -> Iterator[Outcome]:
    plan = sepbm.Plan(
        options.universities,
        options.adapter,
        options.channels,
        options.truth,
        options.report,
        options.resources,
    )
    return sepbm.measure(plan)


def _ctp(options: argparse.Namespace) -> Iterator[Outcome]:
    return ctp.measure(options.extent)


def _windows(options: argparse.Namespace) -> Iterator[Outcome]:
    del options
    return windows.measure()


def _all(options: argparse.Namespace) -> Iterator[Outcome]:
    for benchmark in BENCHMARKS:
        yield from benchmark.measure(options)


_CITY = (_add_roads, _add_rounds)

BENCHMARKS = (
    Benchmark("ingest", "readings per second from MQTT to a commit", _ingest, (_add_readings,)),
    Benchmark(
        "latency",
        "from a publisher, and from an UPDATE by HTTP, to the WebSocket",
        _latency,
        (_add_readings, _add_seconds),
    ),
    Benchmark(
        "fanout", "one notification to many sockets, against a bare loop", _fanout, (_add_fanout,)
    ),
    Benchmark(
        "journal",
        "what an observation costs in the journal",
        lambda o: journal.measure(o.observations),
        (_add_observations,),
    ),
    Benchmark("http", "POST /update beside a bare echo", _http, (_add_requests,)),
    Benchmark("sensorthings", "20 Datastreams by ids", lambda _: sensorthings.measure(), ()),
    Benchmark("lamp", "the city: updates of one lamp, 1,004 subscriptions", _lamp, _CITY),
    Benchmark("road", "the city: updates of whole roads, 1,004 subscriptions", _road, _CITY),
    Benchmark(
        "scalability",
        "many subscribers of one query",
        _scalability,
        (_add_roads, _add_scalability),
    ),
    Benchmark(
        "parallel",
        "sequential mode against worker processes",
        _parallel,
        (_add_roads, _add_parallel),
    ),
    Benchmark(
        "growth",
        "more subscriptions, more triples",
        _growth,
        (_add_roads, _add_growth),
    ),
    Benchmark(
        "chat", "the chat of SEPA's paper: overhead, messages to oneself", _chat, (_add_chat,)
    ),
    Benchmark("families", "each device family beside plain JSON", _families, (_add_families,)),
    Benchmark(
        "federation",
        "gateways that answer together: a pair, growth, delay; beside EventCloud's ways; a fleet",
        _federation,
        (_add_roads, federation_options.add_events),
        (federation_options.add_part,),
    ),
    Benchmark(
        "homeassistant",
        "what telling Home Assistant costs: readings, a start",
        _homeassistant,
        (_add_homeassistant,),
    ),
    Benchmark("modbus", "Modbus devices read each second", _modbus, (_add_modbus,)),
    Benchmark(
        "reasoning",
        "what deriving costs: closure, changes, readings, memory",
        _reasoning,
        (_add_universities,),
    ),
    Benchmark(
        "sepbm",
        "SEP-BM: LUBM's universities, 20 channels, all that follows",
        _sepbm,
        (_add_universities, _add_sepbm),
    ),
    Benchmark(
        "ctp",
        "thousands of conjunctive queries over the last triples of a stream",
        _ctp,
        (_add_ctp,),
    ),
    Benchmark("shapes", "37 shapes of queries, random updates", _shapes, (_add_shapes,)),
    Benchmark("windows", "aggregates over windows, beside Bytewax", _windows, ()),
)
"""All benchmarks, in the order of `make bench`."""
