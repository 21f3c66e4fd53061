"""A program as a user would write it, with every public name: mypy checks it strictly, and the tests run it."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

import relatum
from relatum import V, exists, rel


def the_builder() -> relatum.Question:
    D, P = V("D P")
    q = rel.interacts(D, P) & (rel.assoc(P, "t1") | rel.assoc(P, "t2")) & ~rel.treats(D, "t3")
    formula: relatum.Formula = q & ~exists(V("X"), rel["acts on"](D, V("X")))
    target: relatum.Variable = D
    return formula.ask_for(target)


def the_graph(folder: Path) -> relatum.Graph:
    rows = [(f"e{i}", "next", f"e{(i + 1) % 30}") for i in range(30)]
    rows += [(f"e{i}", "skip", f"e{(i + 2) % 30}") for i in range(30)]
    graph = relatum.Graph(rows, hold_out=(0.7, 0.15, 0.15), seed=1, labels={"e0": "the first"})
    assert len(graph) == len(list(graph)) == 60 and ("e0", "next", "e1") in graph
    ids = relatum.Graph.from_ids(np.array([[0, 0, 1]]), ["a", "b"], ["r"])
    assert ids.entity_id("b") == 1 and ids.relation(0) == "r" and ids.ids("train").shape == (1, 3)
    stats: dict[str, Any] = graph.stats()
    assert stats and graph.find("e1") and graph.describe("e1") and graph.neighbours("e1", direction="out")
    assert len(graph.to_pandas()) == len(graph.to_polars()) == graph.to_networkx().number_of_edges()
    saved = graph.save(folder / "project")
    return relatum.open(saved.folder or folder).graph


def hear(event: dict[str, Any]) -> None:
    assert event["event"]


def the_model(graph: relatum.Graph, folder: Path) -> relatum.Model:
    model = relatum.train(graph, model="complex", rank=4, epochs=3, seed=1, progress=hear)
    score: float = model.score("e0", "next", "e1")
    scores = model.scores("e0", "next", None)
    assert abs(score - float(scores[graph.entity_id("e1")])) < 1e-5
    assert model.entity_embeddings.shape == (30, 8) and len(model.relation_rows) == len(model.relation_embeddings)
    assert len(model.top_tails("e0", "next", 3)) == len(model.top_heads("next", "e0", 3)) == 3
    assert "mrr" in model.evaluate().columns
    model.save(folder / "model.safetensors")
    loaded = relatum.Model.load(folder / "model.safetensors", graph, name="loaded")
    merged = relatum.merge([model, loaded], weights=[0.5, 0.5], name="merged")
    assert merged.rank == 8
    grid = relatum.grid_search(graph, ranks=[2, 4], epochs=1, name="grid", progress=False)
    assert len(grid) == 2
    arrays = relatum.from_numpy(np.eye(2), np.ones((1, 2)), ["a", "b"], ["r"], predictor="distmult")
    assert arrays.score("a", "r", "a") == 1.0
    return model


def the_answers(engine: relatum.Engine) -> None:
    options: relatum.Options = {"top": 3, "explain": True}
    answers: relatum.Answers = engine.ask("?X : exists Y. next(e0, Y) and skip(Y, X) and not next(e1, X)", **options)
    many: list[relatum.Answers] = engine.ask(["?X : next(e0, X)", "SELECT ?x WHERE { e:e0 r:skip ?x }"])
    assert len(many) == 2 and engine.ask(("e0", ("next", "skip")))
    answer: relatum.Answer = answers[0]
    why: relatum.Explanation | None = answer.explanation
    assert why is not None and why.to_svg()
    atoms: tuple[relatum.Atom, ...] = why.atoms
    subs: tuple[relatum.SubQuery, ...] = why.sub_queries
    others: tuple[relatum.Alternative, ...] = why.alternatives
    entity: relatum.Entity = atoms[0].subject
    certainty: relatum.Certainty = answers.certainty
    settings: relatum.Settings = answers.settings
    assert entity.name and certainty.kind and settings.model and len(subs) + len(others) >= 0
    assert pickle.loads(pickle.dumps(answers)) == answers and len(answers.to_pandas()) == len(answers)
    plan: relatum.Plan = engine.plan("?X : next(e0, X)")
    assert plan.to_dot() and engine.check("?X : next(e0, X)")["answerable"]
    engine.reload()
    rules: relatum.Rules = engine.rules
    rules.mine(max_length=1)
    assert "rule" in rules.show("next").columns
    try:
        engine.ask("?X : nxt(e0, X)")
    except relatum.QueryError as error:
        span: relatum.Span | None = error.span
        assert span is not None and error.suggestions == ["next"] and error.message


def the_measures(engine: relatum.Engine) -> None:
    assert len(engine.sample(["2p"], count=5, seed=2))
    assert len(engine.tune(queries=5))
    benchmark: relatum.Benchmark = engine.benchmark(families=["paper-beam"])
    figure: relatum.Figure = benchmark.accuracy()
    assert figure.svg and "mean" in benchmark.table().columns


def the_exceptions(engine: relatum.Engine) -> None:
    wrong: list[tuple[type[relatum.RelatumError], Any]] = [
        (relatum.OptionsError, lambda: engine.ask("?X : next(e0, X)", top=-1)),
        (relatum.NotFoundError, lambda: engine.model("nowhere")),
        (relatum.UnknownNameError, lambda: engine.graph.entity_id("nobody")),
        (relatum.MisuseError, lambda: relatum.train(engine.graph, progress=False)),
        (relatum.DataError, lambda: relatum.Graph([("a", "b")])),
        (relatum.NotFoundError, lambda: relatum.from_kbc("nowhere.pt")),
        (relatum.MachineError, lambda: engine.rules.write("/")),
    ]
    for expected, call in wrong:
        try:
            call()
        except expected as error:
            assert str(error)
        else:
            raise AssertionError(f"expected a {expected.__name__}")
    try:
        relatum.from_pykeen(None, None)
    except TypeError as error:
        assert "TriplesFactory" in str(error)


def main(folder: Path) -> None:
    assert relatum.__version__ and the_builder().startswith("?D : exists P. ")
    assert relatum.films().relations
    graph = the_graph(folder)
    the_model(graph, folder)
    the_answers(graph.engine)
    the_measures(graph.engine)
    the_exceptions(graph.engine)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
