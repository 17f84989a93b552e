"""A federation is made, grows, shrinks, and outlives the gateway that had its CA."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.errors import (
    BadRequestError,
    ConfigurationError,
    ConflictError,
    GatewayError,
    NotFoundError,
    UnknownIdentityError,
)
from gateway.federation.membership.acts import Newcomer
from gateway.federation.membership.certificates import (
    make_authority,
    make_request,
    request_again,
)
from gateway.federation.membership.folder import MembershipFolder
from gateway.federation.membership.invitations import read_code
from gateway.federation.membership.roster import Entry
from gateway.security.certificates import expires_at
from tests.gateway.federation.membership.members import HOME, Pi, federation


def test_who_joins_is_in_the_list_that_all_get(tmp_path: Path) -> None:
    attic, cellar, hall = federation(tmp_path, "attic", "cellar", "hall")
    assert set(hall.roster.members) == {"attic", "cellar", "hall"}
    assert (attic.roster, cellar.roster) == (hall.roster, hall.roster)
    assert (hall.roster.federation, hall.roster.authority, hall.roster.version) == (
        HOME,
        "attic",
        3,
    )
    assert attic.folder.saved_authority.exists()
    assert not hall.folder.saved_authority.exists()


def test_create_again_changes_nothing_and_another_name_is_refused(tmp_path: Path) -> None:
    attic, _ = federation(tmp_path, "attic", "cellar")
    before = attic.membership
    attic.create()
    assert attic.membership == before
    with pytest.raises(ConflictError, match="in the federation home already"):
        attic.acts().create("other", Entry())
    with pytest.raises(BadRequestError, match="no name"):
        attic.acts().create("my home", Entry())


def test_a_code_is_good_once_for_a_day_as_it_was_typed(tmp_path: Path) -> None:
    attic, cellar, hall = (Pi(tmp_path, name) for name in ("attic", "cellar", "hall"))
    attic.create()
    code = attic.acts().invite()
    typed = read_code(f" {str(code).lower().replace('-', ' ')}\n")
    assert typed == code
    cellar.join(attic, code=typed)
    with pytest.raises(UnknownIdentityError, match="used"):
        hall.knock(attic, code)
    late = attic.acts().invite()
    assert attic.acts(timedelta(hours=23)).has_invited()
    assert not attic.acts(timedelta(hours=25)).has_invited()
    with pytest.raises(UnknownIdentityError):
        hall.knock(attic, late, later=timedelta(hours=25))
    with pytest.raises(BadRequestError, match="no code"):
        read_code("K7PQM-4XWTD")


def test_a_name_that_is_taken_or_was_removed_is_for_whom_it_is_meant(tmp_path: Path) -> None:
    attic, cellar, _ = federation(tmp_path, "attic", "cellar", "hall")
    with pytest.raises(ConflictError, match="a member already"):
        Pi(tmp_path / "new", "hall").knock(attic, attic.acts().invite())
    attic.acts().remove("hall")
    with pytest.raises(ConflictError, match="was removed"):
        Pi(tmp_path / "new", "hall").knock(attic, attic.acts().invite())
    meant = attic.acts().invite("hall")
    with pytest.raises(UnknownIdentityError):
        cellar.knock(attic, meant)
    again = Pi(tmp_path / "new", "hall")
    again.join(attic, code=meant)
    assert "hall" in attic.roster.members
    assert attic.roster.removed == ()
    with pytest.raises(ConflictError, match="has the CA"):
        Pi(tmp_path / "new", "attic").knock(attic, attic.acts().invite("attic"))


@pytest.mark.parametrize(
    ("member", "csr"), [("../x", b""), ("hall", b"nonsense"), ("hall", b"x" * 10_000)]
)
def test_a_request_that_cannot_be_costs_no_code(tmp_path: Path, member: str, csr: bytes) -> None:
    attic = Pi(tmp_path, "attic")
    attic.create()
    code = attic.acts().invite()
    with pytest.raises(BadRequestError):
        attic.acts().let_in(Newcomer(code.secret, member, csr, ()))
    Pi(tmp_path, "hall").join(attic, code=code)


def test_a_request_of_another_name_is_refused(tmp_path: Path) -> None:
    attic = Pi(tmp_path, "attic")
    attic.create()
    code = attic.acts().invite()
    request = make_request("cellar")
    with pytest.raises(BadRequestError, match="another name"):
        attic.acts().let_in(Newcomer(code.secret, "hall", request.csr, ()))


def test_who_is_removed_is_not_in_the_next_version(tmp_path: Path) -> None:
    attic, cellar, _ = federation(tmp_path, "attic", "cellar", "hall")
    before = attic.roster.version
    after = attic.acts().remove("hall")
    assert (set(after.members), after.version) == ({"attic", "cellar"}, before + 1)
    with pytest.raises(NotFoundError, match="is a member"):
        attic.acts().remove("hall")
    with pytest.raises(ConflictError, match="adopt"):
        attic.acts().remove("attic")
    with pytest.raises(NotFoundError, match="another gateway"):
        cellar.acts().remove("attic")


def test_the_ca_moves_when_its_gateway_is_gone_and_the_old_one_signs_no_more(
    tmp_path: Path,
) -> None:
    attic, cellar, hall = federation(tmp_path, "attic", "cellar", "hall")
    saved = tmp_path / "usb.pem"
    shutil.copy(attic.folder.saved_authority, saved)
    adopted = cellar.acts().adopt(saved)
    assert (adopted.authority, adopted.generation) == ("cellar", 2)
    cellar.acts().remove("attic")
    yard = Pi(tmp_path, "yard")
    yard.join(cellar)
    assert set(yard.roster.members) == {"cellar", "hall", "yard"}
    # The old one knows nothing of it and signs one more version; theirs is in force all the same.
    attic.acts().remove("hall")
    assert cellar.membership.signed.is_newer_than(attic.membership.signed)
    attic.hear(cellar)
    for act in (lambda: attic.acts().invite(), lambda: attic.acts().remove("hall")):
        with pytest.raises(NotFoundError, match="cellar has the CA"):
            act()
    assert hall.membership.certificate  # is good on, by the same CA


def test_what_is_no_copy_of_the_ca_is_not_adopted(tmp_path: Path) -> None:
    _, cellar = federation(tmp_path, "attic", "cellar")
    other = make_authority("home")
    wrong = {
        "another": other.key + other.certificate,
        "mixed": other.key + cellar.membership.authority,
        "half": other.key,
        "none": b"",
    }
    for name, content in wrong.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GatewayError) as caught:
            cellar.acts().adopt(tmp_path / name)
        assert caught.value.hint or "signed" in str(caught.value)
        assert not cellar.folder.saved_authority.exists()
    with pytest.raises(ConfigurationError, match="cannot read"):
        cellar.acts().adopt(tmp_path / "nowhere")
    with pytest.raises(NotFoundError, match="no federation"):
        Pi(tmp_path, "alone").acts().adopt(tmp_path / "another")


def test_two_lists_of_one_version_come_out_the_same_everywhere(tmp_path: Path) -> None:
    attic, cellar, _ = federation(tmp_path, "attic", "cellar", "hall")
    twin = Pi(tmp_path / "twin", "attic")
    shutil.copytree(attic.folder.path, twin.folder.path)
    attic.acts().remove("hall")
    twin.acts().remove("cellar")
    one, other = attic.membership.signed, twin.membership.signed
    assert one.roster.version == other.roster.version
    assert one.is_newer_than(other) != other.is_newer_than(one)
    assert cellar.membership.signed.roster.version < one.roster.version


@pytest.mark.parametrize("file", ["member.crt", "member.key", "federation.crt", "members.json"])
def test_a_damaged_file_is_said_with_what_to_do(tmp_path: Path, file: str) -> None:
    _, cellar = federation(tmp_path, "attic", "cellar")
    for content in (b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\nxx\n"):
        (cellar.folder.path / file).write_bytes(content)
        with pytest.raises(ConfigurationError):
            cellar.folder.read("cellar")
    (cellar.folder.path / file).unlink()
    with pytest.raises((ConfigurationError, NotFoundError)):
        cellar.folder.read("cellar")


def test_a_certificate_of_another_id_or_ca_is_said(tmp_path: Path) -> None:
    _, cellar = federation(tmp_path, "attic", "cellar")
    with pytest.raises(ConfigurationError, match='this gateway is "kitchen"'):
        cellar.folder.read("kitchen")
    cellar.folder.authority.write_bytes(make_authority("home").certificate)
    with pytest.raises(ConfigurationError, match="another CA"):
        cellar.folder.read("cellar")


def test_a_join_that_was_cut_off_is_as_none(tmp_path: Path) -> None:
    """The certificate is written last: without it there is no membership."""
    attic, cellar = federation(tmp_path, "attic", "cellar")
    cellar.folder.certificate.unlink()
    assert not cellar.folder.is_member
    cellar.join(attic, code=attic.acts().invite("cellar"))
    assert cellar.roster == attic.roster


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    attic, _ = federation(tmp_path, "attic", "cellar")
    attic.acts().invite()
    modes = {path.name: path.stat().st_mode & 0o077 for path in attic.folder.path.iterdir()}
    assert len(modes) >= 6
    assert set(modes.values()) == {0}


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GatewayError, match="file"):
        MembershipFolder(tmp_path / "file" / "federation").make()


def test_who_has_no_place_in_the_list_gets_no_certificate(tmp_path: Path) -> None:
    attic, cellar = federation(tmp_path, "attic", "cellar")
    csr = request_again("cellar", cellar.membership.key)
    later = timedelta(days=3650)
    renewed = attic.acts(later).renew("cellar", csr)
    assert expires_at(renewed) - expires_at(cellar.membership.certificate) == later
    cellar.folder.write_certificate(renewed)
    assert cellar.membership.certificate == renewed
    attic.acts().remove("cellar")
    with pytest.raises(NotFoundError):
        attic.acts().renew("cellar", csr)
