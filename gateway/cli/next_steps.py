"""What to type after the demo: three commands that work where the demo was typed."""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path

from gateway.cli.asking.known_gateway import fill
from gateway.config.file import ENVIRONMENT_PREFIX, load_config
from gateway.demo.settings import Ports

PROGRAM = "sosa-gateway"
SUBSCRIBED = "SELECT ?room { ?room <urn:warm> true }"
UPDATED = "INSERT DATA { <urn:kitchen> <urn:warm> true }"


def next_steps(ports: Ports, config: Path | None) -> list[str]:
    """A line that says where, and the commands; they find each other on the demo's ports.

    What is set in the environment may have been for the demo alone, so it is said again.
    """
    command = typed()
    chosen = [] if config is None else ["--config", str(config)]
    settings = load_config(config, {})
    run = shlex.join([*command, "run", *chosen])
    if settings.tls.mode != "off":
        check, clients = [*command, "check", *chosen], [*command, "client", "add", "--help"]
        return ["next:", *(f"  {each}" for each in (shlex.join(check), run, shlex.join(clients)))]
    set_ports = {
        "MQTT": (ports.mqtt, settings.mqtt.port),
        "HTTP": (ports.http, settings.http.port),
        "WEBSOCKET": (ports.websocket, settings.websocket.port),
    }
    moved = [
        f"{ENVIRONMENT_PREFIX}{section}__PORT={port} "
        for section, (port, otherwise) in set_ports.items()
        if port != otherwise
    ]
    url = _url(ports.http)
    return [
        "next, each in a terminal of its own:",
        f"  {''.join(moved)}{run}",
        f"  {shlex.join([*command, 'subscribe', *url, SUBSCRIBED])}",
        f"  {shlex.join([*command, 'update', *url, UPDATED])}",
    ]


def typed() -> list[str]:
    """How this program was called, so that it can be called again."""
    called = Path(sys.argv[0])
    if called.name != PROGRAM:
        return [sys.executable, "-m", "gateway"]
    found = shutil.which(PROGRAM)
    is_found = found is not None and Path(found).resolve() == called.resolve()
    return [PROGRAM if is_found else str(called)]


def _url(http_port: int) -> list[str]:
    """The option that names the gateway, where commands would ask another one without it."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("SOSA_GATEWAY_")}
    others = {name: value for name, value in os.environ.items() if name not in ours}
    asked = argparse.Namespace(url=None, ca=None, credentials=None)
    fill(asked, others)
    url = f"http://127.0.0.1:{http_port}"
    return [] if asked.url == url else ["--url", url]
