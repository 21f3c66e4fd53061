"""The example notebooks run from the first cell to the last."""

from __future__ import annotations

import json
import pathlib

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_answers(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = json.dumps(book.cells)
    assert "<svg" in shown and "<table" in shown and "<script" not in shown


def test_there_are_the_two_that_the_documentation_names() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} >= {"films", "own_graph"}
