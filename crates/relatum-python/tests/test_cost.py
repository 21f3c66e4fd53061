"""What a call costs beside the engine's own work: memory, time, threads."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import TWO_HOPS

import relatum


def resident() -> int:
    """Bytes of this process in memory."""
    fields = pathlib.Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="only Linux says how much memory is used")
def test_memory_is_flat_over_ten_thousand_questions(small: relatum.Graph) -> None:
    relatum.train(small, rank=4, epochs=2, progress=False)
    engine = small.engine
    question = '?F : stars(F, "Sigourney Weaver")'

    def ask(times: int) -> None:
        for turn in range(times):
            answers = engine.ask(question, top=3, explain=True)
            assert answers[0].explanation is not None and answers.to_json()
            if turn % 10 == 0:
                with pytest.raises(relatum.QueryError):
                    engine.ask("?F : stars(F, Nobodyy)")
        gc.collect()

    ask(2000)
    before = resident()
    ask(10_000)
    grown = resident() - before
    # A leak of one answer each would be tens of megabytes.
    assert grown < 4 << 20, f"{grown / 2**20:.1f} MB"


def test_embeddings_do_not_leak(small: relatum.Graph) -> None:
    model = relatum.train(small, rank=4, epochs=1, progress=False)
    references = sys.getrefcount(model._open)
    for _ in range(1000):
        rows = model.entity_embeddings
        del rows
    gc.collect()
    after = sys.getrefcount(model._open)
    assert after == references


def test_the_interpreter_is_free_while_a_question_is_answered(films: relatum.Engine) -> None:
    cyclic = (
        "?A : exists B, C, D. stars(A, B) and stars(C, B) and stars(C, D) and stars(A, D) and has_genre(A, Drama)"
    )
    counted = 0
    asked = threading.Thread(target=lambda: films.ask(cyclic, known="none", method="exact", timeout=1.0))
    asked.start()
    while asked.is_alive():
        counted += 1
        time.sleep(0.001)
    asked.join()
    assert counted > 5, "the interpreter was held"


def test_what_an_ask_costs_beyond_the_engine(films: relatum.Engine, benchmark) -> None:
    """Measured by pytest-benchmark; `cargo xtask bench python` prints it from a release build, beside the engine's own
    time. A limit here would fail on a busy machine."""
    answers = benchmark(films.ask, TWO_HOPS, top=3)
    assert len(answers) == 3


ODD = textwrap.dedent(
    """
    import relatum, json, sys
    graph = relatum.Graph([("a", "r", "b"), ("b", "s", "c")])
    relatum.train(graph, rank=2, epochs=1, progress=False)
    engine = graph.engine
    odd = [None, True, -1, 0, 2**31, 2**63, 2**64, -2**63, 1.5, float("nan"), float("inf"), "", "x", "\\x00", "\\ud800",
           "a" * 100000, b"x", [], [[]], {}, (), object(), len, "../..", "?X : r(X, b)", "\\u202e", [1, "a"], range(3)]
    names = ["top", "k", "timeout", "max_rows", "max_branches", "unseen", "sharpness", "negation_scale", "method", "model",
             "syntax", "known", "t_norm", "calibration", "union", "explain", "paper", "either_side", "new_only"]
    calls = []
    for value in odd:
        calls += [
            lambda v=value: engine.ask(v), lambda v=value: engine.check(v), lambda v=value: engine.plan(v),
            lambda v=value: engine.explain("?X : r(a, X)", v), lambda v=value: engine.complete(v),
            lambda v=value: relatum.Graph(v), lambda v=value: relatum.Graph([v]), lambda v=value: relatum.Graph([(v, v, v)]),
            lambda v=value: graph.describe(v), lambda v=value: graph.find(v), lambda v=value: graph.entity(v),
            lambda v=value: graph.relation(v), lambda v=value: graph.ids(v), lambda v=value: graph.neighbours("a", limit=v),
            lambda v=value: graph.entity_id(v), lambda v=value: graph.relation_id(v),
            lambda v=value: engine.model(v), lambda v=value: engine.model().score(v, v, v),
            lambda v=value: engine.model().scores(v, "r", None), lambda v=value: engine.model().top_tails("a", "r", v),
            lambda v=value: engine.model().evaluate(v), lambda v=value: relatum.open(v),
            lambda v=value: relatum.Graph.read(v), lambda v=value: relatum.from_kbc(v),
            lambda v=value: relatum.from_numpy(v, v), lambda v=value: relatum.from_pykeen(v, v),
            lambda v=value: relatum.train(graph, rank=v, epochs=1, name="t1", progress=False) if not isinstance(v, int) or v < 9 else None,
            lambda v=value: relatum.train(graph, rank=2, epochs=1, seed=v, name="t2", progress=False),
            lambda v=value: relatum.train(graph, v, rank=2, epochs=1, name="t3", progress=False),
            lambda v=value: relatum.train(graph, rank=2, epochs=1, name=v, progress=False),
            lambda v=value: engine.predict(relation=v), lambda v=value: engine.sample(v), lambda v=value: engine.tune(types=v),
            lambda v=value: engine.benchmark(settings=v), lambda v=value: engine.choose_default(v),
            lambda v=value: relatum.Answers.from_json(v), lambda v=value: relatum.V(v), lambda v=value: relatum.rel.r(v, v),
            lambda v=value: graph.ids() if v is None else relatum.Graph.from_ids(v, ["a"], ["r"]),
            lambda v=value: relatum.Graph([("a", "r", "b")], labels=v), lambda v=value: relatum.Graph([("a", "r", "b")], seed=v),
            lambda v=value: relatum.Graph([("a", "r", "b")], hold_out=v),
        ]
        calls += [lambda v=value, n=name: engine.ask("?X : exists Y. r(a, Y) and s(Y, X)", **{n: v}) for name in names]
    raised = 0
    for call in calls:
        try:
            call()
        except Exception as error:
            # RuntimeError is what a defect of the engine becomes; a PanicException would end this program.
            assert not isinstance(error, (RuntimeError, SystemError, AssertionError)) or isinstance(error, RecursionError), repr(error)
            assert str(error) != "" or isinstance(error, AssertionError), type(error)
            raised += 1
    print(len(calls), raised)
    """
)


def test_no_odd_value_makes_a_panic(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", ODD], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "panicked" not in done.stderr, done.stderr[-3000:]
    calls, raised = map(int, done.stdout.split())
    assert calls > 1500 and raised > 1000, json.dumps([calls, raised])
