"""Nothing secret is told of settings and log lines, whatever and wherever it is."""

import logging
import string
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from gateway.admin.looking.log_tail import LINE_BYTES, MOST_BYTES, MOST_LINES, LogTail
from gateway.admin.looking.secrets import bared, names_secret
from gateway.admin.looking.settings_told import told_settings
from gateway.app.logs import EventText
from gateway.config.settings import Config

secrets = st.text(string.ascii_letters + string.digits + "-_.:/?#%+=~!$&", min_size=8, max_size=40)
plain = st.text(string.ascii_letters + string.digits, min_size=8, max_size=40)


def _told(config: Config) -> str:
    return str(told_settings(config, Config()))


def _texts(model: BaseModel) -> list[tuple[str, str]]:
    return [
        (section, name)
        for section in type(model).model_fields
        for name, value in getattr(model, section)
        if isinstance(value, str) and names_secret(name)
    ]


SECRET_SETTINGS = _texts(Config())


def test_the_settings_that_may_be_secret_are_known() -> None:
    assert {("mqtt", "password_file"), ("shipping", "token_file"), ("tls", "key")} <= set(
        SECRET_SETTINGS
    )


@pytest.mark.parametrize(
    ("section", "name"), SECRET_SETTINGS, ids=[".".join(each) for each in SECRET_SETTINGS]
)
def test_no_text_of_a_setting_named_like_a_secret_is_told(section: str, name: str) -> None:
    config = Config()
    changed = getattr(config, section).model_copy(update={name: "planted-secret"})
    whole = config.model_copy(update={section: changed})
    assert "planted-secret" not in _told(whole)
    (shown,) = (
        each.value
        for told in told_settings(whole, config)
        if told.name == section
        for each in told.settings
        if each.name == name
    )
    assert shown == "***"


@pytest.mark.property
@settings(max_examples=60, deadline=None)
@given(secrets, plain)
def test_planted_secrets_never_appear(secret: str, name: str) -> None:
    config = Config()
    shipping = config.shipping.model_copy(
        update={
            "to": f"sftp://{name}:{secret}@example.org/zone",
            "options": {"key": secret, "nested": {"deep": [secret]}, "anything": secret},
            "token_file": secret,
        }
    )
    mqtt = config.mqtt.model_copy(update={"users": {"lamp": f"$argon2id${secret}"}})
    http = config.http.model_copy(update={"origins": (f"https://x:{secret}@example.org",)})
    whole = config.model_copy(update={"shipping": shipping, "mqtt": mqtt, "http": http})
    told = _told(whole)
    assert secret not in told
    assert "example.org" in told
    assert "lamp" in told


@pytest.mark.property
@settings(max_examples=60, deadline=None)
@given(plain, st.sampled_from(("", "before ", '{"a": "')), st.sampled_from(("", " behind", '"}')))
def test_no_secret_is_left_in_a_line(secret: str, before: str, behind: str) -> None:
    for form in (
        f"https://me:{secret}@example.org/x",
        f"mqtt://{secret}@broker",
        f"s3://bucket/x?X-Amz-Signature={secret}&y=1",
        f"Authorization: Bearer {secret}",
        f"authorization=basic {secret}==",
        f"eyJhbGciOiJSUzI1NiJ9.{secret}.{secret}",
        f"$argon2id$v=19$m=64${secret}",
        f"password={secret}",
        f'"client_secret": "{secret}"',
        f"token: '{secret}'",
    ):
        assert secret not in bared(f"{before}{form}{behind}"), form


def test_what_is_no_secret_stays() -> None:
    for text in ("tokens_from 1", "mqtt://broker:1883/x", "the key of the house", "a@b", "x?y=1"):
        assert bared(text) == text


def test_a_hostile_line_takes_linear_time() -> None:
    for text in ("http://" * 1_000, "a@" * 4_000, "password=" * 800, "https://" + "@" * 8_000):
        assert len(bared(text)) <= len(text) + 10_000


def _tail() -> LogTail:
    return LogTail(EventText())


def _record(text: str, name: str = "gateway") -> logging.LogRecord:
    return logging.LogRecord(name, logging.INFO, __file__, 1, text, None, None)


def test_the_log_is_bounded_in_lines_bytes_and_length() -> None:
    tail = _tail()
    for number in range(MOST_LINES + 100):
        tail.handle(_record(f"line {number}"))
    lines = tail.last(MOST_LINES + 100)
    assert (len(lines), lines[0].text) == (MOST_LINES, "line 100")
    for _ in range(MOST_LINES):
        tail.handle(_record("€" * 5_000, "n" * 5_000))
        assert tail.size_bytes <= MOST_BYTES
    lines = tail.last(MOST_LINES)
    assert len(lines) < MOST_LINES
    assert all(len(each.text.encode()) <= LINE_BYTES for each in lines)
    assert lines[-1].text.endswith("…")
    assert tail.size_bytes == sum(each.size for each in lines)
    assert tail.last(0) == []


def test_what_utf_8_has_not_and_what_cannot_be_formatted_harm_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tail = _tail()
    tail.handle(_record("\ud800 half"))
    wrong = logging.LogRecord("x", logging.INFO, __file__, 1, "%d", ("text",), None)
    tail.handle(wrong)
    assert [each.text for each in tail.last(9)] == ["? half"]
    assert "Logging error" in capsys.readouterr().err


def test_many_threads_log_at_once() -> None:
    tail = _tail()

    def log() -> None:
        for _ in range(200):
            tail.handle(_record("x" * 100))
            tail.last(10)

    threads = [threading.Thread(target=log) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = tail.last(MOST_LINES)
    assert len(lines) == MOST_LINES
    assert tail.size_bytes == sum(each.size for each in lines)
