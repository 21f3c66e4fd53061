"""A small trained project of films that most tests ask."""

from __future__ import annotations

import os
import pathlib
import shutil

import pytest

import relatum


@pytest.fixture(scope="session")
def films_folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("films") / "project"
    graph = relatum.films().save(folder)
    relatum.train(graph, rank=16, epochs=6, progress=False)
    return folder


@pytest.fixture(scope="session")
def films(films_folder: pathlib.Path) -> relatum.Engine:
    return relatum.open(films_folder)


@pytest.fixture
def own_films(films_folder: pathlib.Path, tmp_path: pathlib.Path) -> relatum.Engine:
    """A copy that a test may change."""
    folder = tmp_path / "copy"
    shutil.copytree(films_folder, folder)
    return relatum.open(folder)


@pytest.fixture
def small() -> relatum.Graph:
    return relatum.Graph(
        [
            ("Alien", "stars", "Sigourney Weaver"),
            ("Alien", "has genre", "Horror"),
            ("Ghostbusters", "stars", "Sigourney Weaver"),
            ("Ghostbusters", "has genre", "Comedy"),
            ("Ghostbusters", "stars", "Bill Murray"),
        ]
    )


@pytest.fixture(scope="session")
def command() -> str:
    """The `relatum` command; `cargo xtask test` builds it and says where it is."""
    path = os.environ.get("RELATUM") or shutil.which("relatum")
    if not path or not os.path.exists(path):
        pytest.skip("the relatum command is not there: set RELATUM")
    return path


TWO_HOPS = '?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)'
