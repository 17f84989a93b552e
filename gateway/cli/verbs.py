"""Every command of `sosa-gateway`, in the order of its help."""

from typing import NamedTuple


class Verb(NamedTuple):
    """What a command is for, and the module of this package that has it; "" for a program."""

    purpose: str
    module: str = ""


VERBS = {
    "run": Verb("run the gateway until SIGINT or SIGTERM", "run"),
    "check": Verb("say what would stop `run`, or surprise you, before it does", "check"),
    "demo": Verb("a gateway with simulated devices, live", "demo"),
    "login": Verb("say once which gateway the commands below ask", "login"),
    "logout": Verb("forget it", "login"),
    "query": Verb("ask a running gateway", "sparql"),
    "update": Verb("change a running gateway", "sparql"),
    "subscribe": Verb("show live how an answer changes", "sparql"),
    "explain": Verb("how a subscription is served, at what cost", "sparql"),
    "windows": Verb(
        "windows of a running gateway: what they hold, who sees them", "asking.windows"
    ),
    "sensorthings": Verb(
        "the SPARQL of a SensorThings filter, to ask or subscribe to", "asking.sensorthings"
    ),
    "alarms": Verb("what a person has to look after at a running gateway", "alarms"),
    "reasoning": Verb(
        "what follows by axioms: status, check ontologies, resume", "asking.reasoning"
    ),
    "jsap": Verb(
        "JSAP profiles: their JSON Schema, what is wrong with one, reading them again",
        "jsap",
    ),
    "backup": Verb("what a running gateway keeps, as one file", "programs.backup"),
    "restore": Verb(
        "have a gateway be as a backup says, from its next start on", "programs.backup"
    ),
    "upgrade": Verb(
        "another release in the place of this one, or the one before", "programs.upgrade"
    ),
    "client": Verb("let clients in, change their rights, revoke them", "security"),
    "claim": Verb("print a code that makes a browser the first client", "security"),
    "first-boot": Verb(
        "set the device up by gateway.toml on its boot partition", "programs.first_boot"
    ),
    "keys": Verb("the keys that sign tokens", "security"),
    "ca": Verb("print the path of the certificate that clients are to trust", "security"),
    "archive": Verb("jobs on Spark; see sosa-gateway archive --help"),
    "mapping": Verb(
        "what a running gateway makes of messages: list, try, confirm, undo",
        "mappings",
    ),
    "quarantine": Verb("messages with a fault: list, show, replay, discard", "quarantine"),
    "federation": Verb(
        "gateways that answer together: status, create, join, remove, adopt, members, check",
        "federating.commands",
    ),
    "modbus": Verb("read registers of a Modbus device once", "asking.modbus"),
    "actuators": Verb(
        "what can be set at a running gateway, and what was last",
        "actuators",
    ),
    "actuate": Verb("command an actuator of a running gateway", "actuators"),
    "journal": Verb(
        "segments, what is not shipped, hours left; seal or ship while stopped",
        "journal",
    ),
    "collect": Verb(
        "a landing zone: take the segments that gateways ship by HTTP",
        "collect",
    ),
    "bench": Verb("measure; see sosa-gateway bench --help"),
    "mqtt-user": Verb("make a line for [mqtt.users]", "security"),
    "version": Verb("print the version", "version"),
}
