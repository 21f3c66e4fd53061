"""Processes, threads and the end of the program: nothing hangs, nothing crashes, and what a user holds can travel."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import pytest
from conftest import TWO_HOPS

import relatum


def run(program: str, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix forks")
def test_a_forked_process_answers_and_trains(films_folder: pathlib.Path) -> None:
    # The parent has used its threads, which the children do not have.
    program = """
        import multiprocessing, sys, relatum
        engine = relatum.open(sys.argv[1])
        question = sys.argv[2]
        expected = engine.ask(question, known="none", explain=True).to_json()

        def work(number):
            one = engine.ask(question, known="none", explain=True).to_json() == expected
            two = [answers.shape for answers in engine.ask([question] * 2, known="none")]
            own = relatum.Graph([("a", "r", "b"), ("b", "r", "c")])
            return one, two, relatum.train(own, rank=2, epochs=2, progress=False).ask("?X : r(a, X)")[0].entity

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                found = pool.map_async(work, range(3)).get(timeout=60)
            assert found == [(True, ["2p", "2p"], "b")] * 3, found
            assert engine.ask(question, known="none", explain=True).to_json() == expected
            print("done")
    """
    done = run(program, str(films_folder), TWO_HOPS)
    assert done.stdout == "done\n", done.stderr[-3000:]


@pytest.mark.parametrize("work", ["train", "listen", "ask", "many"])
def test_the_program_ends_while_another_thread_works(films_folder: pathlib.Path, work: str) -> None:
    program = """
        import sys, threading, time, relatum
        engine = relatum.open(sys.argv[1])
        cycle = "?A : exists B, C. stars(A, B) and stars(C, B) and has_genre(C, Drama) and has_genre(A, Comedy)"
        graph = relatum.Graph(engine.graph.triples())
        settings = dict(rank=16, epochs=10**6, patience=0)

        def work():
            match sys.argv[2]:
                case "train": relatum.train(graph, **settings, progress=False)
                case "listen": relatum.train(graph, **settings, progress=lambda event: None)
                case "ask":
                    while True: engine.ask(cycle, known="none")
                case "many":
                    while True: engine.ask([cycle] * 4, known="none")

        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        print("end")
    """
    done = run(program, str(films_folder), work)
    assert (done.returncode, done.stdout) == (0, "end\n"), (done.returncode, done.stderr[-3000:])


@pytest.mark.parametrize(
    "work",
    [
        'engine.ask([cycle] * 50, known="none", method="exact", top=50)',
        'engine.predict(top=10**6, known="none")',
        "engine.rules.mine(seconds=30, restart=True)",
        'engine.model().evaluate("train")',
        'relatum.Graph((str(i), "r", str(i + 1)) for i in range(10**9))',
        'relatum.grid_search(held, ranks=[64], epochs=10**6, replace=True, progress=False)',
        'held.engine.sample(["pi"], count=10**9, existing="replace")',
    ],
)
def test_ctrl_c_stops_whatever_takes_long(own_films: relatum.Engine, work: str) -> None:
    program = f"""
        import os, signal, sys, threading, time, relatum
        engine = relatum.open(sys.argv[1])
        held = relatum.Graph(engine.graph.triples(), hold_out=(0.8, 0.1, 0.1))
        cycle = "?A : exists B, C, D. stars(A, B) and stars(C, B) and stars(C, D) and stars(A, D)"

        def later():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=later, daemon=True).start()
        try:
            while True:
                {work}
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = run(program, str(own_films.folder), timeout=60)
    assert done.stdout == "interrupted\n", done.stderr[-3000:]


def test_a_callback_may_use_the_engine(own_films: relatum.Engine) -> None:
    found: list[object] = []

    def hear(event: dict) -> None:
        if event["event"] == "epoch":
            found.append(own_films.ask(TWO_HOPS)[0].known)
            relatum.train(own_films, rank=2, epochs=1, name="inner", restart=True, progress=False)

    relatum.train(own_films, rank=2, epochs=2, name="outer", progress=hear)
    assert found == [True, True]


def test_projects_and_models_are_pickled_as_their_folder(own_films: relatum.Engine) -> None:
    model = own_films.model()
    for thing in (own_films, own_films.graph, own_films.rules, model):
        assert repr(pickle.loads(pickle.dumps(thing))) == repr(thing)
    assert pickle.loads(pickle.dumps(own_films)).ask(TWO_HOPS) == own_films.ask(TWO_HOPS)
    head, relation, tail = next(iter(own_films.graph))
    assert pickle.loads(pickle.dumps(model)).score(head, relation, tail) == model.score(head, relation, tail)


def test_a_graph_that_was_not_saved_is_copied_but_not_pickled(small: relatum.Graph) -> None:
    model = relatum.train(small, rank=2, epochs=1, progress=False)
    for thing in (small, small.engine, model):
        with pytest.raises(TypeError, match="save"):
            pickle.dumps(thing)
    copied = copy.deepcopy(model)
    assert copied.name == model.name and copied.graph is not small and copied.graph.triples() == small.triples()
    relatum.train(copied.graph, rank=2, epochs=1, name="another", progress=False)
    assert len(copied.engine.models) == 2 and len(small.engine.models) == 1
    assert copy.copy(small).triples() == small.triples()


def test_what_is_held_beside_them_is_pickled(films: relatum.Engine) -> None:
    D, P = relatum.V("D P")
    formula = relatum.rel.stars(D, P) & ~relatum.exists(P, relatum.rel["has genre"](D, P))
    for thing in (D, formula, formula.ask_for(D), relatum.rel.stars, films.plan(TWO_HOPS), films.check(TWO_HOPS)):
        for again in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert str(again) == str(thing)


def test_a_folder_that_is_deleted_raises_and_does_not_crash(own_films: relatum.Engine, tmp_path: pathlib.Path) -> None:
    import shutil

    assert own_films.folder is not None
    rows = own_films.model().entity_embeddings
    shutil.rmtree(own_films.folder)
    assert rows.sum() == rows.sum() and own_films.ask(TWO_HOPS)[0].known and own_films.graph.stats()
    for call in (
        lambda: relatum.open(own_films.folder or ""),
        lambda: own_films.model("another"),
        lambda: own_films.graph.save(tmp_path / "elsewhere"),
        lambda: own_films.choose_default("default"),
    ):
        with pytest.raises(relatum.RelatumError):
            call()


def test_two_engines_on_one_folder_see_each_others_models(own_films: relatum.Engine) -> None:
    assert own_films.folder is not None
    other = relatum.open(own_films.folder)
    relatum.train(own_films, rank=2, epochs=1, name="new", progress=False)
    assert other.ask(TWO_HOPS, model="new").settings.model == "new" and "new" in set(other.models["name"])
    own_films.delete("new")
    assert other.model("new").rank == 2, "what is open stays"
    other.reload()
    with pytest.raises(relatum.NotFoundError):
        other.model("new")
