"""`sosa-gateway sensorthings`: the SPARQL of a SensorThings filter.

Place on the way of the data: before `query` and `subscribe`, which take the text; it asks nobody.
docs/sensorthings.md shows it.
"""

import argparse
import os

from gateway.cli.options import Commands, add_command, add_config, say
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.exchange.sensorthings.model import set_named
from gateway.exchange.sensorthings.translation import Asked, one_text
from gateway.exchange.sensorthings.url.options_parser import parse_options
from gateway.exchange.sensorthings.url.resource_path import parse_resource_path


def add(commands: Commands) -> None:
    """The command `sensorthings`."""
    parser = add_command(commands, "sensorthings", _sensorthings, VERBS["sensorthings"].purpose)
    help_ = "a set with its $filter, as behind /sta/v1.1/: 'Observations?$filter=result gt 25'"
    parser.add_argument("url", metavar="URL", help=help_)
    add_config(parser)


def _sensorthings(options: argparse.Namespace) -> int:
    path, _, query = options.url.partition("?")
    of = set_named(parse_resource_path(path).segments[0].name)
    settings = load_config(options.config, os.environ).gateway
    observations = f"{settings.base_iri}{settings.id}/observation/"
    say(one_text(Asked(of, parse_options(query).filter, (), observations)))
    return 0
