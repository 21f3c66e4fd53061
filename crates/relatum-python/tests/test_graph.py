"""Graphs of everything that holds triples, and back."""

from __future__ import annotations

import gc
import gzip
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rdflib

import relatum

TRIPLES = [("a", "r", "b"), ("b", "r", "c"), ("a", "s", "c")]


def test_any_iterable_of_triples_will_do() -> None:
    for source in (TRIPLES, iter(TRIPLES), [list(triple) for triple in TRIPLES], (t for t in TRIPLES)):
        graph = relatum.Graph(source)
        assert sorted(graph.triples()) == sorted(TRIPLES)
        assert graph.entities == ["a", "b", "c"] and graph.relations == ["r", "s"]
    array = np.array(TRIPLES)
    assert sorted(relatum.Graph(array).triples()) == sorted(TRIPLES)


@pytest.mark.parametrize("frame", [lambda rows, columns: pd.DataFrame(rows, columns=columns), lambda rows, columns: pl.DataFrame(rows, schema=columns, orient="row")])
def test_frames(frame) -> None:
    for columns in (["head", "relation", "tail"], ["Subject", "Predicate", "Object"], ["x", "y", "z"]):
        assert sorted(relatum.Graph(frame(TRIPLES, columns)).triples()) == sorted(TRIPLES)
    more = [(h, t, r, 1) for h, r, t in TRIPLES]
    with pytest.raises(ValueError, match="columns"):
        relatum.Graph(frame(more, ["p", "q", "x", "n"]))
    graph = relatum.Graph(frame(more, ["p", "q", "x", "n"]), columns=("p", "x", "q"))
    assert sorted(graph.triples()) == sorted(TRIPLES)
    with pytest.raises(ValueError, match="no column"):
        relatum.Graph(frame(more, ["p", "q", "x", "n"]), columns=("p", "x", "nope"))
    with pytest.raises(TypeError, match="not a str"):
        relatum.Graph(frame(more, ["p", "q", "x", "n"]), columns=("p", "x", "n"))


def test_missing_values_of_a_frame_are_named() -> None:
    with pytest.raises(ValueError, match="row 1 is missing"):
        relatum.Graph(pd.DataFrame({"head": ["a", None], "relation": ["r", "r"], "tail": ["b", "c"]}))


def test_frames_back(films: relatum.Engine) -> None:
    graph = relatum.Graph(TRIPLES[:2], valid=TRIPLES[2:])
    assert graph.to_pandas()["split"].tolist() == ["train", "train", "valid"]
    again = relatum.Graph(graph.to_polars())
    assert sorted(again.triples()) == sorted(TRIPLES)
    networkx = relatum.Graph(TRIPLES, labels={"a": "Alpha"}).to_networkx()
    assert networkx.number_of_edges() == 3 and networkx.nodes["a"]["label"] == "Alpha"
    assert networkx.edges["a", "b", "r"]["split"] == "train"
    assert len(films.graph.to_pandas()) == len(films.graph)


def test_ids_with_names() -> None:
    ids = np.array([[0, 0, 1], [1, 0, 2], [0, 1, 2]], dtype=np.int32)
    graph = relatum.Graph.from_ids(ids, ["a", "b", "c"], ["r", "s"], labels={"a": "Alpha"})
    assert sorted(graph.triples()) == sorted(TRIPLES) and graph.labels == {"a": "Alpha"}
    assert graph.ids().tolist() == [[0, 0, 1], [0, 1, 2], [1, 0, 2]]
    for wrong, expected in [
        (np.array([[0, 0, 3]]), ValueError),
        (np.array([[0, 0, -1]]), ValueError),
        (np.array([[0, 2, 1]]), ValueError),
        (np.array([[0, 0]]), ValueError),
        (np.array([0, 0, 1]), ValueError),
        (np.array([[0.0, 0.0, 1.0]]), TypeError),
        (np.array([[2**63, 0, 1]], dtype=np.uint64), ValueError),
    ]:
        with pytest.raises(expected):
            relatum.Graph.from_ids(wrong, ["a", "b", "c"], ["r", "s"])
    with pytest.raises(ValueError, match="distinct"):
        relatum.Graph.from_ids(ids, ["a", "a", "c"], ["r", "s"])
    with pytest.raises(TypeError):
        relatum.Graph.from_ids(ids, [1, 2, 3], ["r", "s"])


def test_rdflib() -> None:
    source = rdflib.Graph()
    ns = rdflib.Namespace("http://example.org/")
    source.add((ns.alien, ns.stars, ns.weaver))
    source.add((ns.weaver, rdflib.RDFS.label, rdflib.Literal("Sigourney Weaver")))
    source.add((ns.alien, ns.year, rdflib.Literal(1979)))
    source.add((rdflib.BNode("x"), ns.stars, ns.weaver))
    graph = relatum.Graph(source)
    assert (str(ns.alien), str(ns.stars), str(ns.weaver)) in graph and len(graph) == 2
    assert graph.labels == {str(ns.weaver): "Sigourney Weaver"} and "_:x" in graph.entities
    assert graph.entity_id("Sigourney Weaver") == graph.entity_id(str(ns.weaver))


def test_files_and_folders(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "triples.tsv.gz"
    table.write_bytes(gzip.compress("".join("\t".join(t) + "\n" for t in TRIPLES).encode()))
    labels = tmp_path / "labels.tsv"
    labels.write_text("a\tAlpha\n")
    graph = relatum.Graph.read(table, labels=labels)
    assert sorted(graph.triples()) == sorted(TRIPLES) and graph.labels == {"a": "Alpha"}
    assert graph.report["files"][0]["format"].startswith("TSV")
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.txt").write_text("\t".join(TRIPLES[("train", "valid", "test").index(split)]) + "\n")
    splits = tmp_path / "splits"
    splits.mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.txt").rename(splits / f"{split}.txt")
    whole = relatum.Graph.read(splits, folder=tmp_path / "project")
    assert [len(whole.triples(split)) for split in ("train", "valid", "test")] == [1, 1, 1]
    assert relatum.open(tmp_path / "project").graph.triples() == whole.triples()
    with pytest.raises(relatum.NotFoundError):
        relatum.Graph.read(tmp_path / "nowhere.tsv")
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tr\tb\nonly two\tfields\n")
    with pytest.raises(relatum.DataError, match="2"):
        relatum.Graph.read(bad)
    assert len(relatum.Graph.read(bad, skip_bad_lines=True)) == 1
    with pytest.raises(ValueError):
        relatum.Graph.read(bad, format="nonsense")
    with pytest.raises(relatum.MisuseError):
        relatum.Graph.read()


def test_a_query2box_folder_brings_its_queries(tmp_path: pathlib.Path, own_films: relatum.Engine) -> None:
    own_films.sample(["1p", "2p"], count=5, betae=tmp_path / "betae", seed=1)
    graph = relatum.Graph.read(tmp_path / "betae")
    assert graph.stats()["queries"]["test"]["2p"] == 5
    # The form of BetaE has every edge in both directions, as relations of their own.
    assert len(graph) == 2 * len(own_films.graph)


def test_splits_are_held_out_by_seed() -> None:
    rows = [(f"e{i}", "next", f"e{(i + 1) % 40}") for i in range(40)] + [
        (f"e{i}", "skip", f"e{(i + 2) % 40}") for i in range(40)
    ]
    graph = relatum.Graph(rows, hold_out=(0.8, 0.1, 0.1), seed=5)
    assert [len(graph.triples(split)) for split in ("train", "valid", "test")] == [64, 8, 8]
    assert graph.triples() == relatum.Graph(rows, hold_out="0.8/0.1/0.1", seed=5).triples()
    assert graph.triples() != relatum.Graph(rows, hold_out="0.8/0.1/0.1", seed=6).triples()
    for wrong in ("1/1/1", (0.5, 0.5), "x", (0, 0.5, 0.5)):
        with pytest.raises(ValueError):
            relatum.Graph(rows, hold_out=wrong)


def test_saving_makes_the_command_lines_folder(tmp_path: pathlib.Path) -> None:
    graph = relatum.Graph(TRIPLES, labels={"a": "Alpha"})
    assert graph.folder is None
    temporary = pathlib.Path(graph._core.folder())
    relatum.train(graph, rank=2, epochs=1, progress=False)
    graph.save(tmp_path / "project")
    assert graph.folder == tmp_path / "project" and (graph.folder / "relatum.json").exists()
    gc.collect()
    assert not temporary.exists()
    opened = relatum.open(tmp_path / "project")
    assert opened.graph.triples() == graph.triples() and opened.model().rank == 2
    with pytest.raises(relatum.MisuseError, match="exists already"):
        relatum.Graph(TRIPLES).save(tmp_path / "project")


def test_a_graph_that_was_not_saved_leaves_nothing_behind() -> None:
    graph = relatum.Graph(TRIPLES)
    model = relatum.train(graph, rank=2, epochs=1, progress=False)
    folder = pathlib.Path(graph._core.folder()).parent
    del graph
    gc.collect()
    assert folder.exists() and model.score("a", "r", "b") is not None, "the model needs it still"
    rows = model.entity_embeddings
    del model
    gc.collect()
    assert not folder.exists() and np.isfinite(rows).all(), "memory that is mapped stays readable"


@pytest.mark.parametrize(
    ("triples", "expected"),
    [
        ([("a", "r")], ValueError),
        ([("a", "r", "b", "c")], ValueError),
        ([("a", "r", 3)], TypeError),
        ([("a", "r", None)], TypeError),
        ([("a", "", "b")], ValueError),
        (["abc"], ValueError),
        ([3], TypeError),
        (3, TypeError),
        (None, TypeError),
        ("a file.tsv", TypeError),
        ([("a", "r", "\ud800")], ValueError),
        (np.array([[1, 2, 3]]), TypeError),
    ],
)
def test_what_holds_no_triples_is_refused(triples: object, expected: type) -> None:
    with pytest.raises(expected):
        relatum.Graph(triples)


def test_exceptions_of_an_iterator_come_through() -> None:
    def broken():
        yield ("a", "r", "b")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        relatum.Graph(broken())


def test_names_and_neighbours(films: relatum.Engine) -> None:
    graph = films.graph
    for id in (0, len(graph.entities) - 1):
        assert graph.entity_id(graph.entity(id)) == id
    with pytest.raises(IndexError):
        graph.entity(len(graph.entities))
    with pytest.raises(relatum.UnknownNameError) as raised:
        graph.entity_id("Will Smit")
    assert isinstance(raised.value, LookupError) and "Will Smith" in raised.value.nearest
    edges = graph.neighbours("Will Smith", relation="stars", direction="in")
    assert edges and all(edge[1:] == ("stars", "Will Smith") for edge in edges)
    assert len(graph.neighbours("Will Smith", limit=1)) <= len(edges)
    assert graph.find("will smi")["entities"][0]["name"] == "Will Smith"
    stats = graph.stats()
    assert stats["entities"] == len(graph.entities) and len(graph.relation_stats()) == len(graph.relations)
    assert edges[0] in graph and ("Will Smith", "stars", "Will Smith") not in graph
    with pytest.raises(ValueError):
        graph.neighbours("Will Smith", direction="sideways")
