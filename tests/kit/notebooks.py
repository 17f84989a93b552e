"""Notebooks of examples, run as a person runs them, by a kernel that is a process of its own."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.paths import ROOT

FOLDER = ROOT / "examples"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
CELL_S = 120


def run(name: str, folder: Path) -> str:
    """Everything that its cells print; fails with what a cell raises. `folder` is where it runs."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", resources=resources).execute()
    outputs = (each for cell in notebook.cells for each in cell.get("outputs", ()))
    return "".join(each["text"] for each in outputs if each["output_type"] == "stream")
