"""gateway.config.settings: what a file and variables give, and what their errors say."""

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from gateway.config.file import Given, load_config
from gateway.config.settings import SHIPPED_PROFILES, Config, is_loopback
from gateway.errors import ConfigurationError
from tests.paths import ROOT

EXAMPLE = ROOT / "gateway.example.toml"
HASH = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$aGFzaA"


def written(folder: Path, text: str) -> Path:
    path = folder / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str, **variables: str) -> Config:
    return load_config(written(folder, text), variables)


def refusal(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        loaded(folder, text, **variables)
    return caught.value.description.replace(f"{folder}/", "")


def setting_names(config: Config) -> set[tuple[str, str]]:
    sections = {name: getattr(config, name) for name in Config.model_fields}
    return {
        (name, key)
        for name, section in sections.items()
        if isinstance(section, BaseModel)
        for key in type(section).model_fields
    }


def test_the_example_lists_every_setting() -> None:
    tables = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    listed = {(section, key) for section, table in tables.items() for key in table}
    assert listed == setting_names(Config())


def test_the_example_has_the_true_defaults() -> None:
    assert load_config(EXAMPLE, {}) == Config().at(EXAMPLE.parent)


def test_every_setting_of_the_example_has_a_comment() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    settings = [line for line in lines if " = " in line and not line.startswith("#")]
    assert settings
    assert all("  # " in line for line in settings)


def test_settings_without_a_file_are_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(None, {})
    assert (config.mqtt.port, config.http.port, config.websocket.port) == (1883, 8000, 9000)
    assert config.gateway.data_dir == Path("data")
    assert config.jsap.profiles == (SHIPPED_PROFILES / "observations.jsap",)


def test_the_file_of_the_working_directory_is_read_when_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "[http]\nport = 8123\n")
    monkeypatch.chdir(tmp_path)
    assert load_config(None, {}).http.port == 8123


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    config = loaded(tmp_path, "[http]\nport = 1\n", SOSA_GATEWAY_HTTP__PORT="8081")
    assert config.http.port == 8081


def test_variables_have_the_type_of_their_setting(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        "",
        SOSA_GATEWAY_JOURNAL__FSYNC="false",
        SOSA_GATEWAY_LIMITS__FUTURE_S="0.5",
        SOSA_GATEWAY_GATEWAY__ID="42",
        SOSA_GATEWAY_MQTT__USERS=f'{{"ann": "{HASH}"}}',
        SOSA_GATEWAY_JSAP__PROFILES='["observations", "a.jsap"]',
    )
    assert config.journal.fsync is False
    assert config.limits.future_s == 0.5
    assert config.gateway.id == "42"
    assert config.mqtt.users == {"ann": HASH}
    assert config.jsap.profiles == (SHIPPED_PROFILES / "observations.jsap", tmp_path / "a.jsap")


def test_variables_that_are_no_settings_are_left_alone(tmp_path: Path) -> None:
    assert loaded(tmp_path, "", SOSA_GATEWAY_SHARED="x", PATH="y") == Config().at(tmp_path)


def test_relative_paths_are_taken_from_the_folder_of_the_file(tmp_path: Path) -> None:
    text = """
        [gateway]
        data_dir = "d"
        [mqtt]
        mode = "external"
        password_file = "secret"
        [jsap]
        profiles = ["house/lamps.jsap", "/etc/other.jsap"]
        """
    config = loaded(tmp_path, text)
    assert config.gateway.data_dir == tmp_path / "d"
    assert config.jsap.profiles == (tmp_path / "house/lamps.jsap", Path("/etc/other.jsap"))
    assert config.mqtt.password_file == str(tmp_path / "secret")


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().http.port = 1


def test_password_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush\nnote\n", encoding="utf-8")
    config = loaded(tmp_path, '[mqtt]\nmode = "external"\npassword_file = "secret"\n')
    assert config.mqtt.read_password() == "hush"
    assert Config().mqtt.read_password() is None


def test_a_missing_password_file_is_told(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[mqtt]\nmode = "external"\npassword_file = "secret"\n')
    with pytest.raises(ConfigurationError, match=r"mqtt\.password_file: cannot read"):
        config.mqtt.read_password()


@pytest.mark.parametrize("section", ["mqtt", "http"])
def test_another_host_than_loopback_is_refused(tmp_path: Path, section: str) -> None:
    told = refusal(tmp_path, f'[{section}]\nhost = "0.0.0.0"\n')
    assert told.startswith(f"gateway.toml:1: {section}: ")
    assert "bind 127.0.0.1" in told


def test_another_host_than_loopback_is_taken_when_it_is_guarded(tmp_path: Path) -> None:
    text = f"""
        [mqtt]
        host = "0.0.0.0"
        allow_clear_text = true
        users = {{ ann = "{HASH}" }}
        [http]
        host = "::"
        allow_remote = true
        """
    assert loaded(tmp_path, text).http.host == "::"


def test_an_external_broker_may_be_anywhere(tmp_path: Path) -> None:
    text = (
        '[mqtt]\nmode = "external"\nhost = "broker.lan"\nusername = "gw"\nallow_clear_text = true\n'
    )
    config = loaded(tmp_path, text)
    assert config.mqtt.username == "gw"
    assert config.mqtt_client_id == "sosa-gateway-gateway"


OPEN = "[security]\nenabled = true\n[http]\nhost = '0.0.0.0'\n"


@pytest.mark.parametrize(
    ("text", "told", "http_port"),
    [
        ("[http]\nport = 8123\n", [], 8123),
        ("[http]\nprot = 1\nport = 8123\n", ["http.prot"], 8123),
        ("[http]\nport = 'x'\n[mqtt]\nport = -1\n", ["mqtt.port", "http.port"], 8000),
        ("[htp]\nport = 1\n[http]\nport = 8123\n", ["htp"], 8123),
        ("http = 3\n[mqtt]\nhost = '0.0.0.0'\n", ["http", "mqtt"], 8000),
        ("[http]\nhost = '0.0.0.0'\n[mqtt]\nhost = '::'\n", ["mqtt", "http"], 8000),
        ("[tls]\nmode = 'onw'\n" + OPEN, ["tls.mode"], 8000),
        ("[mqtt]\nprot = 1\nusername = 'gw'\n", ["mqtt.prot"], 8000),
    ],
)
def test_what_is_right_is_left_when_the_wrong_is_told(
    tmp_path: Path, text: str, told: list[str], http_port: int
) -> None:
    given = Given.read(written(tmp_path, text), {})
    config, faults = given.what_is_right()
    assert [each.place.rpartition(": ")[2] for each in faults] == told
    assert config.http.port == http_port


def test_the_place_of_a_setting_is_where_it_was_written(tmp_path: Path) -> None:
    path = written(tmp_path, "[http]\n\nport = 1\n")
    given = Given.read(path, {"SOSA_GATEWAY_MQTT__PORT": "2"})
    assert given.place("http", "port") == f"{path}:3: http.port"
    assert given.place("mqtt", "port") == "environment variable SOSA_GATEWAY_MQTT__PORT: mqtt.port"
    assert given.place("tls", "key") == f"{path}: tls.key"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OPEN, "http: secrets and tokens would cross the network to 0.0.0.0 in clear text"),
        (OPEN + "allow_remote = true\n", "http: secrets and tokens would cross"),
        ("[security]\nenabled = true\n[mqtt]\nhost = '::'\n", "mqtt: passwords would cross"),
        (f"[mqtt]\nhost = '::'\nusers = {{ann = '{HASH}'}}\n", "mqtt: passwords would cross"),
        ("[mqtt]\nmode = 'external'\nhost = 'b'\nusername = 'gw'\n", "mqtt: passwords would"),
        (f"[security]\nenabled = true\n[mqtt.users]\nann = '{HASH}'\n", "users are clients"),
        (
            "[security]\nsepatest = true\n[tls]\nmode='own'\n[http]\nhost='0.0.0.0'\n"
            "allow_remote=true\n",
            "security: sepatest lets everyone in",
        ),
        ("[tls]\nmode = 'files'\n", "needs certificate and key"),
        ("[tls]\nkey = 'x'\n", "needs certificate and key"),
    ],
)
def test_what_is_open_to_the_network_is_told(tmp_path: Path, text: str, told: str) -> None:
    assert told in refusal(tmp_path, text)


def test_with_security_and_tls_every_host_is_taken(tmp_path: Path) -> None:
    config = loaded(tmp_path, OPEN + "[mqtt]\nhost = '::'\n[tls]\nmode = 'own'\n")
    assert (config.http_port, config.websocket_port, config.mqtt_port) == (8443, 9443, 8883)
    plain = loaded(tmp_path, "")
    assert (plain.http_port, plain.websocket_port, plain.mqtt_port) == (8000, 9000, 1883)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "\n[http]\n\nprot = 1\n",
            "gateway.toml:4: http.prot: unknown setting; did you mean 'port'?",
        ),
        ("[htp]\n", "gateway.toml:1: htp: unknown setting; did you mean 'http'?"),
        (
            '[discovery]\nauto_acept = ["tasmota"]\n',
            "gateway.toml:2: discovery.auto_acept: unknown setting; did you mean 'auto_accept'?",
        ),
        (
            '[discovery]\nfamilies = ["shelly"]\n',
            "gateway.toml:2: discovery.families.0: use families that announce themselves: "
            "homeassistant, homie, sparkplug, tasmota, zigbee2mqtt; "
            'the default is ["homeassistant", "homie", "sparkplug", "tasmota", "zigbee2mqtt"]',
        ),
        ("[store]\nzzz = 1\n", "gateway.toml:2: store.zzz: unknown setting; known are kind, late"),
        ("port = 1\n", "gateway.toml:1: port: unknown setting; known are gateway, store, engine"),
        ("http = 1\n", "gateway.toml:1: http: write it as a table [http]"),
        ('[http]\nport = "x"\n', 'gateway.toml:2: http.port: "x" is no whole number'),
        ("[http]\nport = 65536\n", "the default is 8000"),
        ("http.port = -1\n", "gateway.toml:1: http.port: "),
        ("[jsap]\nprofiles = []\n", "gateway.toml:2: jsap.profiles: "),
        ('[mqtt.users]\nann = "hush"\n', "run: sosa-gateway mqtt-user ann"),
        (f'[mqtt]\nmode = "external"\nusers = {{ann = "{HASH}"}}\n', "gateway.toml:1: mqtt: users"),
        ('[mqtt]\nmode = "external"\nport = 0\n', "cannot be dialled"),
        ('[mqtt]\nusername = "ann"\n', "are for mode"),
        ('[mqtt]\nmode = "mosquitto"\nport = 0\n', "cannot be dialled"),
        ('[mqtt]\nmode = "mosquitto"\nca_file = "x"\n', "are for mode"),
        ('[mqtt]\nmode = "mosquitto"\nmosquitto_dir = "data/m"\n', "is below data_dir"),
        ('[mqtt]\nmode = "mosquitto"\nhost = "0.0.0.0"\n', "let anyone"),
        ('[gateway]\nid = "a/b"\n', "gateway.toml:2: gateway.id: use 1 to 64 letters"),
        ('[gateway]\nbase_iri = "http://x"\n', "gateway.toml:2: gateway.base_iri: use an absolute"),
        ('[gateway]\nbase_iri = "http://x/>"\n', "gateway.base_iri"),
        ("[http\n", "(at line 1, column 6)"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    assert told in refusal(tmp_path, text)


def test_all_wrong_settings_are_told_at_once(tmp_path: Path) -> None:
    told = refusal(tmp_path, '[http]\nport = "x"\n[log]\nlevel = "loud"\n')
    assert [line.split(": ")[1] for line in told.splitlines()] == ["http.port", "log.level"]


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("SOSA_GATEWAY_HTTP__PORT", "x", 'variable SOSA_GATEWAY_HTTP__PORT: http.port: "x" is no'),
        ("SOSA_GATEWAY_HTTP__PROT", "1", "variable SOSA_GATEWAY_HTTP__PROT: http.prot: unknown"),
        ("SOSA_GATEWAY_HTP__PORT", "1", "SOSA_GATEWAY_HTP__PORT: htp: unknown setting; did you"),
        ("SOSA_GATEWAY_MQTT__USERS", "{", "environment variable SOSA_GATEWAY_MQTT__USERS: "),
    ],
)
def test_a_wrong_variable_is_told_by_name(
    tmp_path: Path, variable: str, value: str, told: str
) -> None:
    assert told in refusal(tmp_path, "", **{variable: value})


def test_a_variable_with_one_underscore_too_few_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean SOSA_GATEWAY_HTTP__PORT"):
        loaded(tmp_path, "", SOSA_GATEWAY_HTTP_PORT="1")


def test_a_named_file_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read .*absent\.toml"):
        load_config(tmp_path / "absent.toml", {})


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("gateway.lan", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(("websocket", "shared"), [(9000, False), (8000, True), (0, True)])
def test_port_is_shared_when_the_numbers_say_so(
    tmp_path: Path, websocket: int, shared: bool
) -> None:
    config = loaded(tmp_path, f"[websocket]\nport = {websocket}\n")
    assert config.shared_port is shared
