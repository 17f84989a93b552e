"""What damaged inputs have found once stays mended; each parser has a corpus to begin with."""

from pathlib import Path

from tests.fuzz.fuzzing import CORPUS, replay
from tests.fuzz.parsers import PARSERS


def test_each_parser_has_a_corpus() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(PARSERS)
    assert all(any((CORPUS / name).iterdir()) for name in PARSERS)


def test_corpus_does_no_harm(tmp_path: Path) -> None:
    inputs = {name: sorted((CORPUS / name).iterdir()) for name in PARSERS}
    finding = replay(inputs, tmp_path)
    assert finding is None, f"{finding.what}: {finding.data[:500]!r}"
