"""Rows of the start and of the end: settings, folders, ports, signals."""

from tests.gateway.cli.mistakes.row import PORTS, Row

_WRONG_SETTINGS = {
    "gateway.toml": '[mqtt]\nprot = 1884\n\n[htp]\nport = 8080\n\n[http]\nport = "high"\n'
    '[jsap]\nprofiles = ["observation"]\n'
}
_UNREADY = {
    "gateway.toml": '[gateway]\ndata_dir = "usb/data"\n[websocket]\nport = 0\n'
    '[tls]\ncertificate = "nowhere.pem"\nkey = "nowhere.key"\nmode = "files"\nhttp_port = 0\n'
    "mqtt_port = 1883\nwebsocket_port = 0\n"
    '[jsap]\nprofiles = ["observations", "house.jsap", "cut.jsap"]\n',
    "cut.jsap": '{"queries": ',
}
_WRONG_REASONING = {"gateway.toml": '[reasoning]\ngraphs = ["default"]\nontologies = ["bilding"]\n'}
_BROKEN_AXIOMS = {
    "gateway.toml": '[reasoning]\ngraphs = ["default"]\nontologies = ["house.ttl"]\n',
    "house.ttl": "<urn:a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <NoScheme> .\n",
}
_EXAMPLE = "gateway.example.toml shows every setting"
_OTHER_FOLDER = "or name another folder: [gateway] data_dir"
_QUIET = {"gateway.toml": f"{PORTS}0\n"}

SETTINGS = (
    Row(
        "a port that is in use",
        "sosa-gateway run",
        1,
        "error: the gateway cannot listen on 127.0.0.1 port 8000: another gateway (pid …) uses "
        "the port",
        "what to do: end it, or set another port: [http] port",
        files={"gateway.toml": f"{PORTS}8000\n"},
    ),
    Row(
        "a setting with a typo",
        "sosa-gateway run",
        1,
        "gateway.toml:2: mqtt.prot: unknown setting; did you mean 'port'?",
        f"what to do: {_EXAMPLE}",
        files=_WRONG_SETTINGS,
    ),
    Row(
        "a section with a typo",
        "sosa-gateway run",
        1,
        "gateway.toml:4: htp: unknown setting; did you mean 'http'?",
        f"what to do: {_EXAMPLE}",
        files=_WRONG_SETTINGS,
    ),
    Row(
        "a setting of the wrong type",
        "sosa-gateway run",
        1,
        'gateway.toml:8: http.port: "high" is no whole number; the default is 8000',
        f"what to do: {_EXAMPLE}",
        files=_WRONG_SETTINGS,
    ),
    Row(
        "a settings file that is not there",
        "sosa-gateway run --config house/gateway.toml",
        1,
        "error: cannot read house/gateway.toml: No such file or directory",
        "what to do: name a readable TOML file with --config",
        is_slow=True,
    ),
    Row(
        "a profile with a typo",
        "sosa-gateway run",
        1,
        "gateway.toml:10: jsap.profiles.0: no profile 'observation' ships",
        "did you mean 'observations'? The name of a file ends in .jsap",
        files=_WRONG_SETTINGS,
    ),
    Row(
        "a typo in a profile",
        "sosa-gateway jsap check house.jsap",
        0,
        "warning: house.jsap: updats: no member of JSAP, so it says nothing",
        "did you mean updates?",
        files={"house.jsap": '{"host": "127.0.0.1", "queries": {}, "updats": {}}'},
    ),
    Row(
        "an ontology with a typo",
        "sosa-gateway check",
        1,
        "error: gateway.toml:3: reasoning.ontologies.0: no ontology 'bilding' ships",
        "did you mean 'building'? The name of a file ends in .ttl, .owl or the like",
        files=_WRONG_REASONING,
    ),
    Row(
        "axioms that are broken",
        "sosa-gateway run",
        1,
        "error: house.ttl:1: Parser error at line 1… No scheme found in an absolute IRI",
        "correct the file there",
        files=_BROKEN_AXIOMS,
    ),
    Row(
        "axioms that are broken, looked at before",
        "sosa-gateway reasoning check house.ttl",
        1,
        "error: house.ttl:1: Parser error at line 1… No scheme found in an absolute IRI",
        "correct the file there",
        files=_BROKEN_AXIOMS,
    ),
    Row(
        "a folder of data on a disk that is not plugged in",
        "sosa-gateway check",
        1,
        "warning: gateway.toml:2: gateway.data_dir: neither usb/data nor usb is there",
        "correct it where that is not meant, or mount the disk",
        files=_UNREADY,
    ),
    Row(
        "a certificate that is not there",
        "sosa-gateway check",
        1,
        "error: gateway.toml:6: tls.certificate: cannot read nowhere.pem: No such file or "
        "directory",
        "name files that the gateway may read: [tls] certificate, key",
        files=_UNREADY,
    ),
    Row(
        "the port of MQTT in use",
        "sosa-gateway check",
        1,
        "error: gateway.toml:10: tls.mqtt_port: the MQTT broker cannot listen on 127.0.0.1 port "
        "1883: another gateway (pid …) uses the port",
        "end it, or set another port: [http] port",
        files=_UNREADY,
    ),
    Row(
        "a profile that is not there",
        "sosa-gateway check",
        1,
        "error: house.jsap: No such file or directory",
        "correct the name, or let the gateway read the file",
        files=_UNREADY,
    ),
    Row(
        "a profile that is no JSON",
        "sosa-gateway check",
        1,
        "error: cut.jsap: line 1, column 13: not JSON: ",
        "correct it there",
        files=_UNREADY,
    ),
    Row(
        "settings that are no TOML",
        "sosa-gateway check",
        1,
        "gateway.toml: Expected ']'",
        "correct the TOML syntax",
        files={"gateway.toml": "[mqtt\nport = 1883\n"},
        is_slow=True,
    ),
    Row(
        "the network without identities",
        "sosa-gateway run",
        1,
        "gateway.toml:1: http: everyone who reaches 0.0.0.0 could read and change the store",
        "enable [security], bind 127.0.0.1 or say allow_remote = true",
        files={"gateway.toml": '[http]\nhost = "0.0.0.0"\n'},
        is_slow=True,
    ),
    Row(
        "a file where the folder of data should be",
        "sosa-gateway run",
        1,
        "gateway.toml is a file, no folder",
        f"what to do: move it away, {_OTHER_FOLDER}",
        files={"gateway.toml": '[gateway]\ndata_dir = "gateway.toml"\n' + _QUIET["gateway.toml"]},
    ),
    Row(
        "a folder of data that cannot be written",
        "sosa-gateway run",
        1,
        "the file system of data… is mounted read-only",
        f"what to do: mount it for writing (a damaged one is mounted so: see dmesg), "
        f"{_OTHER_FOLDER}",
        at="read-only disk",
    ),
    Row(
        "a full disk",
        "sosa-gateway run",
        1,
        "the disk of data… is full: 0 bytes are free",
        f"what to do: make room on it, {_OTHER_FOLDER}",
        at="full disk",
    ),
    Row(
        "a second gateway in the same folder",
        "sosa-gateway run",
        1,
        "data/store is in use by another gateway (pid …)",
        f"what to do: stop it (kill …), {_OTHER_FOLDER}",
        at="gateway",
    ),
)

ENDING = (
    Row(
        "Ctrl-C while it loads",
        "sosa-gateway run",
        130,
        "",
        "",
        files=_QUIET,
        signals=((" gateway.errors\n", "SIGINT"),),
        is_slow=True,
    ),
    Row(
        "Ctrl-C while it loads, twice",
        "sosa-gateway run",
        130,
        "",
        "",
        files=_QUIET,
        signals=((" gateway.errors\n", "SIGINT"), ("", "SIGINT until it has ended")),
    ),
    Row(
        "Ctrl-C, again and again",
        "sosa-gateway run",
        0,
        "INFO gateway.cli.run stopping",
        "",
        files=_QUIET,
        signals=((" serving ", "SIGINT"), ("", "SIGINT until it has ended")),
    ),
    Row(
        "kill",
        "sosa-gateway run",
        0,
        "INFO gateway.cli.run stopping",
        "",
        files=_QUIET,
        signals=((" serving ", "SIGTERM"),),
    ),
    Row(
        "a terminal that is closed",
        "sosa-gateway run",
        0,
        "INFO gateway.cli.run stopping",
        "",
        files=_QUIET,
        signals=((" serving ", "SIGHUP"),),
        is_slow=True,
    ),
)
