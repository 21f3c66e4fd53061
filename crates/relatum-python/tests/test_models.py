"""Training and what comes of it."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import relatum


@pytest.fixture(scope="module")
def graph() -> relatum.Graph:
    rows = [(f"e{i}", "next", f"e{(i + 1) % 60}") for i in range(60)]
    rows += [(f"e{i}", "skip", f"e{(i + 2) % 60}") for i in range(60)]
    return relatum.Graph(rows, hold_out=(0.8, 0.1, 0.1), seed=3)


def test_training_gives_a_model(graph: relatum.Graph) -> None:
    model = relatum.train(graph, "complex", 8, epochs=3, seed=1, name="first", progress=False)
    assert (model.name, model.predictor, model.rank, model.unfinished) == ("first", "complex", 8, None)
    again = relatum.train(graph, "complex", 8, epochs=3, seed=1, name="again", progress=False)
    assert np.array_equal(model.entity_embeddings, again.entity_embeddings), "the same seed, the same bytes"
    with pytest.raises(relatum.MisuseError, match="already"):
        relatum.train(graph, "complex", 8, epochs=3, name="first", progress=False)
    other = relatum.train(graph, "transe", 4, epochs=1, name="first", restart=True, progress=False)
    assert other.predictor == "transe" and graph.engine.model("first").predictor == "transe"
    assert model.predictor == "complex", "what is open stays as it was"
    assert set(graph.engine.models["name"]) >= {"first", "again"}


def test_embeddings_are_views_that_cannot_be_written(graph: relatum.Graph) -> None:
    model = relatum.train(graph, "complex", 4, epochs=1, name="views", progress=False)
    rows = model.entity_embeddings
    assert rows.shape == (60, 8) and rows.dtype == np.float32 and not rows.flags.owndata
    assert rows.ctypes.data == model.entity_embeddings.ctypes.data, "no copy"
    assert not rows.flags.writeable
    with pytest.raises(ValueError):
        rows[0, 0] = 1.0
    with pytest.raises(ValueError):
        rows.flags.writeable = True
    assert model.relation_embeddings.shape == (4, 8)
    assert model.relation_rows == ["next", "skip", "next⁻¹", "skip⁻¹"]
    del model
    assert np.isfinite(rows).all(), "the array keeps what it needs"


def test_scores_are_those_of_the_formula(graph: relatum.Graph) -> None:
    model = relatum.train(graph, "distmult", 6, epochs=2, name="formula", progress=False)
    entities, relations = model.entity_embeddings, model.relation_embeddings
    expected = float(np.sum(entities[3] * relations[1] * entities[5]))
    assert model.score("e3", "skip", "e5") == pytest.approx(expected, abs=1e-5)
    assert model.score(3, 1, 5) == pytest.approx(expected, abs=1e-5)
    many = model.score(["e3", "e4"], "skip", np.array([5, 6]))
    assert many.shape == (2,) and many[0] == pytest.approx(expected, abs=1e-5)
    row = model.scores("e3", "skip", None)
    assert row.shape == (60,) and row[5] == pytest.approx(expected, abs=1e-5)
    best = model.top_tails("e3", "skip", 60)
    assert best["entity"][0] == graph.entity(int(row.argmax())) and len(best) == 60
    assert best["score"].is_monotonic_decreasing
    heads = model.top_heads("skip", "e5", 3)
    backwards = model.scores(None, "skip", "e5")
    assert heads["score"][0] == pytest.approx(float(backwards.max()), abs=1e-5)
    fresh = model.top_tails("e3", "skip", 60, new_only=True)
    assert set(best["entity"]) - set(fresh["entity"]) == {tail for _, _, tail in graph.neighbours("e3", relation="skip", direction="out")}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nobody", "next", "e1"), relatum.UnknownNameError),
        (("e1", "nothing", "e1"), relatum.UnknownNameError),
        ((60, 0, 1), IndexError),
        ((-1, 0, 1), IndexError),
        ((0, 99, 1), IndexError),
        ((0.5, 0, 1), TypeError),
        ((True, 0, 1), TypeError),
        ((None, 0, 1), TypeError),
        (([0, 1], 0, [1, 2, 3]), ValueError),
    ],
)
def test_wrong_edges_raise_what_they_should(graph: relatum.Graph, arguments: tuple, expected: type) -> None:
    if "wrong" not in set(graph.engine.models["name"]):
        relatum.train(graph, "distmult", 2, epochs=1, name="wrong", progress=False)
    with pytest.raises(expected):
        graph.engine.model("wrong").score(*arguments)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"rank": "8"}, TypeError),
        ({"rank": 1.5}, TypeError),
        ({"rank": -1}, ValueError),
        ({"rank": 0}, relatum.MisuseError),
        ({"epochs": 0}, relatum.MisuseError),
        ({"learning_rate": float("nan")}, ValueError),
        ({"learning_rate": -1.0}, relatum.MisuseError),
        ({"learning_rate": "fast"}, TypeError),
        ({"model": "magic"}, relatum.MisuseError),
        ({"model": "transe-norm"}, relatum.MisuseError),
        ({"optimizer": "magic"}, ValueError),
        ({"candidates": -3}, ValueError),
        ({"name": "../evil"}, relatum.MisuseError),
        ({"resume": True, "restart": True}, ValueError),
        ({"resume": True, "name": "never"}, relatum.MisuseError),
        ({"progress": "yes"}, TypeError),
        ({"colour": 1}, TypeError),
    ],
)
def test_wrong_settings_raise_what_they_should(graph: relatum.Graph, settings: dict, expected: type) -> None:
    with pytest.raises(expected):
        relatum.train(graph, **{"name": "refused", "epochs": 1, "rank": 2, "progress": False, **settings})


def test_what_is_no_graph_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        relatum.train([("a", "r", "b")])
    with pytest.raises(relatum.MisuseError):
        relatum.train(relatum.Graph([]), progress=False)


def test_progress_is_heard_and_its_exception_keeps_the_state(graph: relatum.Graph) -> None:
    events: list[dict] = []

    def stop(event: dict) -> None:
        events.append(event)
        if event["event"] == "epoch" and event["epoch"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        relatum.train(graph, rank=4, epochs=2000, name="stopped", patience=0, progress=stop)
    # The graph is so small that no settings are searched, which is said first.
    assert [event["event"] for event in events[:2]] == ["not_searched", "begin"] and events[1]["last_epoch"] == 2000
    assert [event["epoch"] for event in events if event["event"] == "epoch"] == [1, 2]
    kept = graph.engine.model("stopped")
    assert kept.unfinished is not None


def _until(epoch: int):
    def hear(event: dict) -> None:
        if event["event"] == "epoch" and event["epoch"] >= epoch:
            raise StopIteration

    return hear


def test_a_stopped_run_is_resumed_to_the_same_bytes(graph: relatum.Graph) -> None:
    settings = {"rank": 4, "epochs": 6, "seed": 9, "patience": 0}
    whole = relatum.train(graph, name="whole", progress=False, **settings)
    with pytest.raises(StopIteration):
        relatum.train(graph, name="parts", progress=_until(2), **settings)
    resumed = relatum.train(graph, name="parts", resume=True, progress=False)
    assert resumed.unfinished is None
    assert np.array_equal(whole.entity_embeddings, resumed.entity_embeddings)


def test_bars_and_lines(graph: relatum.Graph, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    relatum.train(graph, rank=2, epochs=2, name="bar", progress=True)
    assert "2/2" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    relatum.train(graph, rank=2, epochs=2, name="lines", progress=True)
    assert "epoch 2: loss" in capfd.readouterr().err


def test_ctrl_c_stops_a_training_and_keeps_its_state(tmp_path: pathlib.Path) -> None:
    program = textwrap.dedent(
        f"""
        import relatum, sys
        graph = relatum.films().save({str(tmp_path / "films")!r})
        def hear(event):
            if event["event"] == "epoch":
                print("epoch", flush=True)
        try:
            relatum.train(graph, rank=32, epochs=100000, patience=0, search=False, progress=hear)
        except KeyboardInterrupt:
            print("interrupted", graph.engine.model().unfinished is not None, flush=True)
            sys.exit(7)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "epoch"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 7 and "interrupted True" in out


def test_ctrl_c_stops_a_question(films_folder: pathlib.Path) -> None:
    program = textwrap.dedent(
        f"""
        import relatum, threading, os, signal, time, sys
        engine = relatum.open({str(films_folder)!r})
        def later():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=later, daemon=True).start()
        end = time.time() + 60
        try:
            while time.time() < end:
                engine.ask("?A : exists B, C, D. stars(A, B) and stars(C, B) and stars(C, D) and stars(A, D) and has_genre(A, Drama)",
                           known="none", method="exact", top=50)
        except KeyboardInterrupt:
            sys.exit(7)
        """
    )
    child = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
    assert child.returncode == 7


def test_evaluation_is_a_frame(graph: relatum.Graph) -> None:
    model = relatum.train(graph, "complex", 8, epochs=20, name="measured", progress=False)
    found = model.evaluate()
    assert list(found.index) == ["overall", "tails", "heads", "queries"]
    assert 0 <= found.loc["overall", "mrr"] <= 1 and found.attrs["split"] == "test"
    by_relation = model.evaluate("valid", by_relation=True)
    assert set(by_relation["relation"]) <= {"next", "skip"} and by_relation["count"].sum() == 24
    with pytest.raises(ValueError):
        model.evaluate("nothing")
    with pytest.raises(ValueError):
        model.evaluate(ties="hopeful")


def test_merging_and_calibrating(own_films: relatum.Engine) -> None:
    graph = own_films.graph
    one = own_films.model()
    two = relatum.train(graph, rank=8, epochs=2, name="two", progress=False)
    both = relatum.merge([one, two], weights=[1.0, 0.5], name="both")
    head, relation, tail = graph.triples("train")[0]
    expected = one.score(head, relation, tail) + 0.5 * two.score(head, relation, tail)
    assert both.rank == 24 and both.score(head, relation, tail) == pytest.approx(expected, abs=1e-3)
    with pytest.raises(ValueError):
        relatum.merge([], name="x")
    with pytest.raises(relatum.MisuseError):
        one.merge(two, weights=[1.0], name="x")
    losses: list[float] = []
    done = one.calibrate(kind="adaptive", queries=60, epochs=3, progress=lambda event: losses.append(event["loss"]))
    assert done["queries"] > 0 and len(losses) >= 2
    if done["saved"]:
        assert one.is_calibrated and own_films.ask('?F : stars(F, "Will Smith")', calibration="adaptive")
    with pytest.raises(relatum.OptionsError):
        one.calibrate(queries=60)
    with pytest.raises(relatum.OptionsError):
        one.calibrate(kind="adaptive", measure=9)


def test_saving_and_loading(graph: relatum.Graph, tmp_path: pathlib.Path) -> None:
    model = relatum.train(graph, "rotate", 4, epochs=2, name="travels", progress=False)
    model.save(tmp_path / "model.safetensors")
    model.save(tmp_path / "arrays")
    for index, path in enumerate([tmp_path / "model.safetensors", tmp_path / "arrays"]):
        loaded = relatum.Model.load(path, graph, name=f"loaded{index}")
        assert np.array_equal(loaded.entity_embeddings, model.entity_embeddings)
    with pytest.raises(relatum.MisuseError, match="exists"):
        model.save(tmp_path / "arrays")
    with pytest.raises(relatum.NotFoundError):
        relatum.Model.load(tmp_path / "nothing.safetensors", graph, name="x")
    with pytest.raises(TypeError):
        relatum.Model()


def test_a_grid_is_a_frame(graph: relatum.Graph) -> None:
    found = relatum.grid_search(graph, models=["complex", "distmult"], ranks=[2, 4], epochs=2, name="grid", progress=False)
    assert len(found) == 4 and found["mrr"].is_monotonic_decreasing
    assert graph.engine.model("grid").predictor == found["model"][0]
    with pytest.raises(relatum.MisuseError, match="validation"):
        relatum.grid_search(relatum.Graph([("a", "r", "b")]), ranks=[2], progress=False)


def test_other_threads_run_while_one_trains(graph: relatum.Graph) -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    relatum.train(graph, rank=64, epochs=30, patience=0, name="beside", progress=False)
    stop.set()
    thread.join()
    assert counted > 5, "the interpreter was not held"


def test_the_default_model(own_films: relatum.Engine) -> None:
    relatum.train(own_films, rank=2, epochs=1, name="other", progress=False)
    assert own_films.default_model == "default"
    own_films.choose_default("other")
    assert own_films.model().name == "other" and own_films.ask('?F : stars(F, "Will Smith")').settings.model == "other"
    own_films.delete("other")
    with pytest.raises(relatum.NotFoundError):
        own_films.model("other")
    assert os.path.isdir(own_films.folder)
