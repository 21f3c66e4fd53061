"""What calling from Python costs, as a table: run by `cargo xtask bench python`, on a release build."""

from __future__ import annotations

import statistics
import threading
import time

import relatum


def read(answers: relatum.Answers) -> relatum.Answers:
    list(answers)
    return answers


def cost(name: str, work, times: int = 2000) -> None:
    """A call as a whole, the engine's own time in it, and the difference, which is what Python adds."""
    whole, engine = [], []
    for _ in range(times):
        start = time.perf_counter()
        answers = work()
        whole.append(1e6 * (time.perf_counter() - start))
        engine.append(1e6 * answers._reply.seconds)
    added = statistics.median(a - b for a, b in zip(whole, engine))
    print(f"  {name:32} {statistics.median(whole):15.1f} {statistics.median(engine):9.1f} {added:14.1f}")


def microseconds(work, times: int = 2000) -> float:
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spans.append(time.perf_counter() - start)
    return statistics.median(spans) * 1e6


def main() -> None:
    graph = relatum.films()
    relatum.train(graph, rank=64, epochs=3, progress=False)
    engine = graph.engine
    # A project of one edge: the engine has next to nothing to do, so that the call is what is measured.
    tiny = relatum.Graph([("a", "r", "b")])
    relatum.train(tiny, rank=1, epochs=1, progress=False)
    two = '?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)'
    print("microseconds, in the median                 whole    engine  Python's part")
    cost("ask, a graph of one edge", lambda: tiny.engine.ask("?X : r(a, X)", top=1))
    cost("ask, films, 2p, ten answers", lambda: engine.ask(two))
    cost("the same, and read the answers", lambda: read(engine.ask(two)))
    cost("the same, explained, and read", lambda: read(engine.ask(two, explain=True)), 300)
    rows = engine.model()
    print(f"  entity_embeddings              {microseconds(lambda: rows.entity_embeddings):17.1f}")
    # One question that is answered on one core, and one for which the engine takes all cores by itself: there a second
    # thread has nothing to gain.
    heavy = '?A : exists B, C. stars(A, B) and stars(C, B) and has_genre(C, Drama) and has_genre(A, Comedy)'
    for name, question, known, times in (("light", two, None, 3000), ("heavy", heavy, "none", 20)):
        alone = seconds(1, engine, question, known, times)
        for threads in (2, 4):
            together = seconds(threads, engine, question, known, times)
            print(f"{threads} threads ask a {name} question: {threads * alone / together:.2f} times as many answers")


def seconds(threads: int, engine: relatum.Engine, question: str, known: str | None, times: int) -> float:
    def work() -> None:
        for _ in range(times):
            engine.ask(question, known=known)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
