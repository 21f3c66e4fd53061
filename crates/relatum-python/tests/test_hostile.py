"""What a user can get wrong: the exception names the argument, what it must be, and what came."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest

import relatum

TRIPLES = [("a", "r", "b"), ("b", "s", "c"), ("c", "r", "a")]
NAMES = ["head", "relation", "tail"]


@pytest.fixture(scope="module")
def model() -> relatum.Model:
    return relatum.train(relatum.Graph(TRIPLES), rank=2, epochs=1, progress=False)


def frame(*rows: tuple, columns: list[str] = NAMES) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns)


@pytest.mark.parametrize(
    ("source", "expected", "message"),
    [
        (frame(("a", None, "b")), relatum.DataError, "'relation' of row 0 is missing"),
        (frame(("a", float("nan"), "b")), relatum.DataError, "is missing"),
        (frame(("a", "r", "b"), ("a", pd.NA, "b")), relatum.DataError, "row 1 is missing"),
        (frame(("a", "r", "b"), ("a", pd.NA, "b")).astype("string"), relatum.DataError, "row 1 is missing"),
        (frame(("a", pd.NaT, "b")), relatum.DataError, "is missing"),
        (frame((1, "r", "b")), TypeError, "'head' of row 0 is 1, not a str"),
        (frame((np.zeros(2), "r", "b")), TypeError, "not a str"),
        (frame(("a", "r", "b", "c"), columns=[*NAMES, "head"]), relatum.DataError, "several columns are called 'head'"),
        (pd.DataFrame(), relatum.OptionsError, "there are: none"),
        (pl.DataFrame({"h": ["a"], "r": [None], "t": ["b"]}), relatum.DataError, "'r' of row 0 is missing"),
        (np.array([["a", None, "b"]], dtype=object), TypeError, "row 0 holds a NoneType"),
        (np.array([[b"a", b"r", b"b"]]), TypeError, "names \\(str\\)"),
        (np.array([[1.0, 2.0, 3.0]]), TypeError, "names \\(str\\)"),
        (np.array(["a"]), relatum.DataError, "three columns"),
        (pd.Series(["a"]), relatum.DataError, "row 0"),
        (5, TypeError, "not int"),
    ],
)
def test_frames_and_arrays_that_hold_no_triples(source: object, expected: type, message: str) -> None:
    with pytest.raises(expected, match=message):
        relatum.Graph(source)


def test_frames_of_every_kind() -> None:
    lazy = pl.LazyFrame(TRIPLES, schema=NAMES, orient="row")
    labelled = frame(("a", "an A", "r", "b"), columns=["head", "label", "relation", "tail"])
    for source in (lazy, frame(*TRIPLES).astype("category"), frame(*TRIPLES).astype("string"), pd.Series(TRIPLES)):
        assert sorted(relatum.Graph(source)) == sorted(TRIPLES)
    assert list(relatum.Graph(labelled)) == [("a", "r", "b")], "a column `label` is not the relation beside `relation`"
    assert len(relatum.Graph(frame())) == 0 and bool(relatum.Graph([])) is True


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        ({"columns": NAMES}, TypeError, "belongs to a frame"),
        ({"labels": ["a"]}, TypeError, "`labels` must be a dict"),
        ({"labels": {"nobody": "x"}}, relatum.DataError, "nobody"),
        ({"hold_out": (0.5, 0.5)}, relatum.OptionsError, "`hold_out`"),
        ({"hold_out": (float("nan"), 0.5, 0.5)}, relatum.OptionsError, "`hold_out`"),
        ({"seed": -1}, relatum.OptionsError, "`seed`"),
        ({"seed": 10**5000}, relatum.OptionsError, "`seed`.*bits"),
        ({"seed": 1.0}, TypeError, "`seed`"),
    ],
)
def test_wrong_arguments_of_a_graph(arguments: dict, expected: type, message: str) -> None:
    with pytest.raises(expected, match=message):
        relatum.Graph(TRIPLES, **arguments)


@pytest.mark.parametrize("name", ["rank", "epochs", "batch_size", "cool_down", "eval_every", "patience", "candidates", "seed"])
@pytest.mark.parametrize(("value", "expected"), [(1.5, TypeError), (True, TypeError), (-1, relatum.OptionsError), (2**64, relatum.OptionsError)])
def test_a_wrong_count_names_its_argument(model: relatum.Model, name: str, value: object, expected: type) -> None:
    with pytest.raises(expected, match=f"`{name}` must be"):
        relatum.train(model.graph, name="refused", progress=False, **{name: value})


@pytest.mark.parametrize("name", ["learning_rate", "regularizer_weight", "relation_loss", "init_scale"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [("much", TypeError), (float("nan"), relatum.OptionsError), (1e300, relatum.OptionsError), (10**400, relatum.OptionsError)],
)
def test_a_wrong_number_names_its_argument(model: relatum.Model, name: str, value: object, expected: type) -> None:
    with pytest.raises(expected, match=f"`{name}` must be"):
        relatum.train(model.graph, name="refused", progress=False, **{name: value})


def test_numbers_of_numpy_are_numbers(model: relatum.Model) -> None:
    settings = {"rank": np.int64(2), "epochs": np.int32(1), "learning_rate": np.float32(0.1), "seed": np.uint64(3)}
    trained = relatum.train(model.graph, name="of-numpy", restart=np.bool_(True), progress=False, **settings)
    assert trained.rank == 2 and len(trained.ask("?X : r(a, X)", top=np.int64(2))) == 2


@pytest.mark.parametrize(
    ("call", "expected", "message"),
    [
        (lambda m: m.scores(["a", "b"], "r", None), TypeError, "one name or one id"),
        (lambda m: m.top_tails(["a", "b"], "r"), TypeError, "one name or one id"),
        (lambda m: m.scores(-1, "r", None), IndexError, "no entity -1"),
        (lambda m: m.scores(2**40, "r", None), IndexError, "no entity"),
        (lambda m: m.scores(2**70, "r", None), IndexError, "that large"),
        (lambda m: m.ask("?X : r(a, X)", model="other"), TypeError, "`model`"),
        (lambda m: m.engine.ask(iter(["?X : r(a, X)"])), TypeError, "a list of those"),
        (lambda m: m.engine.ask((float("nan"), ("r",))), TypeError, "names"),
        (lambda m: m.engine.ask((object(), ("r",))), TypeError, "names"),
        (lambda m: m.engine.explain("?X : r(a, X)", None), TypeError, "`entity`"),
        (lambda m: m.engine.ask("?X : r(a, X)", top=-1), relatum.OptionsError, "`top`"),
        (lambda m: m.engine.sample("2p"), TypeError, "`types` must be a list"),
        (lambda m: m.engine.rules.mine(seconds=-1), relatum.OptionsError, "`seconds`"),
        (lambda m: m.engine.rules.read("nowhere.txt"), relatum.NotFoundError, "nowhere.txt"),
        (lambda m: relatum.open("a\0b"), relatum.OptionsError, "NUL"),
        (lambda m: relatum.train(m.graph, resume="no"), TypeError, "`resume`"),
        (lambda m: relatum.train(m.graph, name="\ud800"), relatum.OptionsError, "surrogate"),
        (lambda m: relatum.grid_search(m.graph, ranks="12"), TypeError, "`ranks` must be a list"),
        (lambda m: relatum.Graph.from_ids(np.zeros((1, 3), int), [""], ["r"]), relatum.DataError, "empty"),
    ],
)
def test_other_calls_say_what_is_wrong(
    model: relatum.Model, call: Callable[[relatum.Model], object], expected: type, message: str
) -> None:
    with pytest.raises(expected, match=message):
        call(model)


@pytest.mark.parametrize(
    "text",
    [
        "?X : " + "not " * 100_000 + "r(a, X)",
        "?X : " + "(" * 100_000 + "r(a, X)",
        "?X : " + " and ".join(["r(a, X)"] * 20_000),
        "SELECT ?x WHERE " + "{" * 20_000,
        "SELECT ?x WHERE { ?x " + "(" * 50_000,
        "[" * 100_000,
        "?X : r(a, " + "x" * 10_000_000 + ")",
    ],
    ids=["nots", "brackets", "atoms", "groups", "paths", "tuples", "long"],
)
def test_questions_without_end_are_refused(model: relatum.Model, text: str) -> None:
    with pytest.raises(relatum.QueryError):
        model.engine.ask(text)


def test_formulas_and_tuples_without_end_are_refused(model: relatum.Model) -> None:
    formula, question = relatum.rel.r("a", relatum.V("X")), ("a", ("r",))
    for _ in range(20_000):
        formula, question = ~formula, (question, ("r",))
    with pytest.raises(relatum.OptionsError, match="nested too deeply"):
        model.engine.ask(formula, target="X")
    with pytest.raises(relatum.OptionsError, match="nested too deeply"):
        model.engine.ask(question)


def test_limits_hold_for_a_list_of_questions_and_for_predictions(model: relatum.Model) -> None:
    question = "?X : exists Y. r(a, Y) and s(Y, X)"
    for limit in ({"max_rows": 1}, {"timeout": 0.0}):
        for answers in model.engine.ask([question] * 3, known="none", evidence="model", **limit):
            assert answers.certainty.kind == "stopped"
    assert model.engine.predict(timeout=0.0).attrs["certainty"]["certainty"]["kind"] == "stopped"


def test_columns_of_a_frame_are_scored(model: relatum.Model) -> None:
    edges = frame(*TRIPLES)
    scores = model.score(edges["head"], edges["relation"], edges["tail"])
    assert scores.tolist() == [pytest.approx(model.score(*triple)) for triple in TRIPLES]


def test_explained_answers_can_be_in_a_set(model: relatum.Model) -> None:
    answers = model.ask("?X : r(a, X)", explain=True)
    assert len({*answers, *answers}) == len(answers) and hash(answers[0].explanation) == hash(answers[0].explanation)


def test_a_names_odd_characters_come_back_as_they_are() -> None:
    odd = 'a\0b\n"c\'\\<script>'
    graph = relatum.Graph([(odd, odd, "x")])
    found = relatum.train(graph, rank=1, epochs=1, progress=False).ask(relatum.rel[odd](odd, relatum.V("X")), target="X", explain=True)
    assert found[0].entity == "x" and odd in graph.entities
    assert "<script" not in found._repr_html_() and "\0" not in found._repr_html_() + str(found)


def test_every_public_name_is_in_the_typed_program() -> None:
    import pathlib

    program = (pathlib.Path(__file__).parent / "typed_program.py").read_text()
    missing = [name for name in relatum.__all__ if f"relatum.{name}" not in program and f" {name}" not in program]
    assert not missing


def test_the_typed_program_runs(tmp_path) -> None:
    import typed_program

    typed_program.main(tmp_path)
