"""Predictors that were trained elsewhere score as they did there."""

from __future__ import annotations

import json
import pathlib
from types import SimpleNamespace

import numpy as np
import pytest

import relatum

FIXTURES = sorted((pathlib.Path(__file__).parent / "from_pykeen").glob("*.json"))


def loaded(path: pathlib.Path) -> tuple[object, object, dict]:
    """A model and a factory as PyKEEN would hand them over, made of a fixture that PyKEEN wrote."""
    data = json.loads(path.read_text())

    def array(parts: dict) -> np.ndarray:
        real = np.array(parts["re"], dtype=np.float32)
        return real + 1j * np.array(parts["im"], dtype=np.float32) if "im" in parts else real

    interaction = type(data["interaction"], (), {"p": data["p"], "power_norm": data["power_norm"]})()
    model = SimpleNamespace(
        interaction=interaction,
        entity_representations=[lambda indices, a=array(parts): a for parts in data["entities"]],
        relation_representations=[lambda indices, a=array(parts): a for parts in data["relations"]],
    )
    factory = SimpleNamespace(
        entity_to_id=data["entity_to_id"],
        relation_to_id=data["relation_to_id"],
        mapped_triples=np.array(data["triples"]),
    )
    return model, factory, data


def test_there_is_a_fixture_of_every_kind() -> None:
    assert {path.stem.split("-")[0] for path in FIXTURES} == {"complex", "distmult", "transe", "rotate", "cp"}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_scores_are_pykeens(path: pathlib.Path) -> None:
    model, factory, data = loaded(path)
    ours = relatum.from_pykeen(model, factory)
    entities, relations = len(data["entity_to_id"]), len(data["relation_to_id"])
    tails = np.array([ours.scores(h, r, None) for h in range(entities) for r in range(relations)])
    heads = np.array([ours.scores(None, r, t) for r in range(relations) for t in range(entities)])
    np.testing.assert_allclose(tails, data["tails"], atol=1e-4)
    np.testing.assert_allclose(heads, data["heads"], atol=1e-4)
    alone = ours.score("e3", "r1", "e5")
    assert alone == pytest.approx(data["tails"][3 * relations + 1][5], abs=1e-4)
    answers = ours.ask("?X : exists Y. r0(e1, Y) and r1(Y, X)", known="none", explain=True)
    assert len(answers) > 0 and ours.graph.triples()


def test_what_cannot_be_equal_is_refused_politely() -> None:
    model, factory, _ = loaded(FIXTURES[0].parent / "transe.json")
    model.interaction.__class__.p = 1
    with pytest.raises(ValueError, match="scoring_fct_norm=2"):
        relatum.from_pykeen(model, factory)
    other = SimpleNamespace(interaction=type("TuckerInteraction", (), {})())
    with pytest.raises(ValueError, match="only ComplEx"):
        relatum.from_pykeen(other, factory)
    with pytest.raises(TypeError, match="TriplesFactory"):
        relatum.from_pykeen(model, [("a", "r", "b")])
    good, factory, _ = loaded(FIXTURES[0].parent / "complex.json")
    factory.entity_to_id = {"e0": 0}
    with pytest.raises(ValueError, match="trained with"):
        relatum.from_pykeen(good, factory)


def test_matrices_of_numpy() -> None:
    rng = np.random.default_rng(3)
    entities = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    relations = rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))
    model = relatum.from_numpy(entities, relations, list("abcd"), ["r", "s"])
    expected = (entities[0] * relations[1] * entities[2].conj()).sum().real
    assert model.score("a", "s", "c") == pytest.approx(expected, abs=1e-4)
    assert model.scores(None, "s", "c")[0] == pytest.approx(expected, abs=1e-4)
    assert len(model.graph) == 0 and len(model.ask("?X : s(a, X)")) == 4
    cp = relatum.from_numpy(np.abs(rng.normal(size=(4, 6))), np.abs(rng.normal(size=(2, 3))), predictor="cp")
    assert cp.rank == 6 and cp.score("0", "1", "2") == pytest.approx(float(cp.scores(None, "1", "2")[0]), abs=1e-4)


def test_rows_are_matched_by_name() -> None:
    graph = relatum.Graph([("b", "r", "a"), ("a", "s", "c")])
    entities = np.arange(12, dtype=np.float32).reshape(3, 4) / 10
    model = relatum.from_numpy(
        entities, np.ones((2, 4)), ["a", "b", "c"], ["s", "r"], predictor="distmult", graph=graph
    )
    assert graph.entities == ["b", "a", "c"] and np.allclose(model.entity_embeddings[0], entities[1])
    assert model.score("a", "r", "b") == pytest.approx(float((entities[0] * entities[1]).sum()), abs=1e-5)


def test_relations_that_are_inverses_in_the_graph_need_no_reciprocals(
    own_films: relatum.Engine, tmp_path: pathlib.Path
) -> None:
    own_films.sample(["1p"], count=3, betae=tmp_path / "betae")
    graph = relatum.Graph.read(tmp_path / "betae")
    count = len(graph.relations)
    rng = np.random.default_rng(5)
    entities = rng.normal(size=(len(graph.entities), 4))
    relations = rng.normal(size=(count, 4))
    model = relatum.from_numpy(entities, relations, predictor="distmult", graph=graph)
    assert model.relation_rows == graph.relations and np.allclose(model.relation_embeddings, relations, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"entity": np.ones(3)}, ValueError),
        ({"entity": [["a"]]}, TypeError),
        ({"entity": np.full((3, 4), np.nan)}, relatum.DataError),
        ({"entity": np.ones((3, 5))}, relatum.MisuseError),
        ({"relation": np.ones((2, 3))}, relatum.MisuseError),
        ({"entity_names": ["a", "b"]}, ValueError),
        ({"entity_names": ["a", "a", "b"]}, ValueError),
        ({"entity_names": "abc"}, TypeError),
        ({"predictor": "magic"}, ValueError),
        ({"graph": "folder"}, TypeError),
    ],
)
def test_matrices_that_do_not_fit_are_refused(change: dict, expected: type) -> None:
    arguments = {
        "entity": np.ones((3, 4)),
        "relation": np.ones((2, 4)),
        "entity_names": ["a", "b", "c"],
        "relation_names": ["r", "s"],
        "predictor": "complex",
        **change,
    }
    with pytest.raises(expected):
        relatum.from_numpy(**arguments)


KBC = pathlib.Path(__file__).parents[2] / "relatum/src/import/fixtures"


def test_checkpoints_of_kbc() -> None:
    files = sorted(KBC.glob("**/*.pt"))
    if not files:
        pytest.skip("the fixtures of the engine are not beside this package")
    model = relatum.from_kbc(files[0])
    assert np.isfinite(model.entity_embeddings).all() and len(model.graph.relations) * 2 == len(model.relation_rows)
    assert len(model.ask("?X : #0(#1, X)")) > 0
    with pytest.raises(relatum.NotFoundError):
        relatum.from_kbc(KBC / "nothing.pt")
    with pytest.raises(TypeError):
        relatum.from_kbc(3)
