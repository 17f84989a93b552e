"""The store brought to the form that a release reads; a newer one is left as it is."""

from pathlib import Path

import pytest

from gateway.errors import StorageError
from gateway.journal.record import SCHEMA
from gateway.runtime.forms import Form, Forms
from gateway.store.disk.migration import STEPS, Step, bring_up, form_of


class PowerCutError(BaseException):
    """At a moment that nobody chose."""


def test_what_this_release_says_of_itself_is_true() -> None:
    forms = Forms.read()
    assert forms.journal.writes == SCHEMA
    assert forms.journal.can_read(forms.journal)
    assert forms.store.can_read(forms.store)
    reached = {step.to for step in STEPS.values()}
    assert forms.store.reads >= reached | {forms.store.writes}


def test_it_goes_step_by_step_and_again_after_a_power_cut(tmp_path: Path) -> None:
    done: list[str] = []

    def second(_: Path) -> None:
        done.append("2-3")
        if done.count("2-3") == 1:
            raise PowerCutError

    steps = {"1": Step("2", lambda _: done.append("1-2")), "2": Step("3", second)}
    form = Form("3", frozenset({"3"}))
    with pytest.raises(PowerCutError):
        bring_up(tmp_path, form, steps)
    assert form_of(tmp_path) == "2"
    bring_up(tmp_path, form, steps)
    bring_up(tmp_path, form, steps)
    assert done == ["1-2", "2-3", "2-3"]
    assert form_of(tmp_path) == "3"


def test_a_newer_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "form").write_text("7")
    with pytest.raises(StorageError, match="form '7', which this release cannot read"):
        bring_up(tmp_path, Forms.read().store)
    assert form_of(tmp_path) == "7"


def test_what_a_step_cannot_write_is_told(tmp_path: Path) -> None:
    def fails(_: Path) -> None:
        raise OSError("the disk is broken")

    with pytest.raises(StorageError, match="cannot be brought to the form"):
        bring_up(tmp_path, Form("2", frozenset({"2"})), {"1": Step("2", fails)})
    assert form_of(tmp_path) == "1"
