"""Certificates that a late clock accepts, that last, and that are of one name and one key."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from gateway.errors import ConfigurationError
from gateway.federation.membership.certificates import (
    fault,
    fingerprint,
    issue,
    make_authority,
    make_request,
)
from gateway.federation.membership.roster import Entry, Roster, read_roster, signed
from tests.gateway.federation.membership.members import NOW, federation

CA = make_authority("home")


@pytest.mark.parametrize("now", [datetime(1970, 1, 2, tzinfo=UTC), NOW])
def test_a_certificate_is_good_from_1970_for_twenty_years(now: datetime) -> None:
    """Also where the CA's own clock is in 1970."""
    request = make_request("attic")
    found = x509.load_pem_x509_certificate(issue(request.csr, "attic", CA, now))
    assert found.not_valid_before_utc == datetime(1970, 1, 1, tzinfo=UTC)
    assert found.not_valid_after_utc.year == 2046
    usages = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usages) == {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH}
    authority = x509.load_pem_x509_certificate(CA.certificate)
    assert authority.not_valid_after_utc.year == 9999
    found.verify_directly_issued_by(authority)


def test_what_is_wrong_with_a_certificate_is_said() -> None:
    request, other = make_request("attic"), make_request("attic")
    good = issue(request.csr, "attic", CA, NOW)
    assert fault(good, request.key, CA.certificate, "attic") == ""
    assert "another certificate" in fault(good, other.key, CA.certificate, "attic")
    assert '"attic"' in fault(good, request.key, CA.certificate, "cellar")
    assert "another CA" in fault(good, request.key, make_authority("home").certificate, "attic")
    assert "read" in fault(b"x", request.key, CA.certificate, "attic")
    assert "read" in fault(good, b"x", CA.certificate, "attic")
    with pytest.raises(ConfigurationError, match="no certificate"):
        fingerprint(b"nonsense")


def test_a_list_that_somebody_changed_is_none(tmp_path: Path) -> None:
    attic, _ = federation(tmp_path, "attic", "cellar")
    authority, text = attic.membership.authority, attic.membership.signed.text
    outer = json.loads(text)
    said = json.loads(outer["roster"])
    said["members"]["evil"] = {"at": [], "hub": True}
    forged = [
        json.dumps({**outer, "roster": json.dumps(said)}),
        json.dumps({**outer, "signature": base64.b64encode(b"x" * 70).decode()}),
        json.dumps({"roster": outer["roster"]}),
        json.dumps({"roster": 1, "signature": 2}),
        "[]",
        "[" * 100_000,
        "",
        "x" * 2_000_000,
    ]
    for each in forged:
        with pytest.raises(ConfigurationError):
            read_roster(each.encode(), authority)
    other = make_authority("home")
    with pytest.raises(ConfigurationError, match="not signed"):
        read_roster(signed(attic.roster, other).text, authority)


def test_random_changes_of_a_list_never_pass(tmp_path: Path) -> None:
    attic, _ = federation(tmp_path, "attic", "cellar")
    authority, signed_ = attic.membership.authority, attic.membership.signed
    random = Random(7)
    for _ in range(200):
        text = bytearray(signed_.text)
        text[random.randrange(len(text))] = random.randrange(256)
        try:
            found = read_roster(bytes(text), authority)
        except ConfigurationError:
            continue
        assert found.roster == signed_.roster


def test_a_list_written_otherwise_is_no_newer_one(tmp_path: Path) -> None:
    """Whoever passes one on could else keep all others taking it up for ever."""
    attic, _ = federation(tmp_path, "attic", "cellar")
    mine = attic.membership.signed
    theirs = read_roster(b"  \n" + mine.text + b"   ", attic.membership.authority)
    assert theirs.text != mine.text
    assert not theirs.is_newer_than(mine)
    assert not mine.is_newer_than(theirs)


def test_a_list_is_bounded_whoever_signed_it() -> None:
    many = {f"m{number}": Entry() for number in range(1001)}
    with pytest.raises(ConfigurationError, match="1000 members"):
        read_roster(signed(Roster("home", "m1", many), CA).text, CA.certificate)
    for wrong in (
        Roster("home", "m1", {"a b": Entry()}),
        Roster("home", "m1", {"a": Entry(("no place",))}),
        Roster("home", "m1", {"a": Entry(("h:1",) * 5)}),
        Roster("home", "m1", {}, version=0),
        Roster("", "m1", {}),
    ):
        with pytest.raises(ConfigurationError):
            read_roster(signed(wrong, CA).text, CA.certificate)
