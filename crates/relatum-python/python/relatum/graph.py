"""Graphs: names, edges and splits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _frames as frames, _progress, _relatum
from ._arguments import dumps, numbers, path as path_of, seed as seed_of, several, switch, word
from ._home import Home
from ._optional import frame, need
from .errors import DataError

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import polars as pl

    from .engine import Engine

__all__ = ["Graph", "films"]

PathLike = Union[str, "os.PathLike[str]"]
SPLITS = ("train", "valid", "test")


class Graph:
    """A graph: triples of names, in the splits train, valid and test.

    It is made from an iterable of triples, a pandas or polars frame, an ``rdflib.Graph``, files (:meth:`read`), or an
    array of ids (:meth:`from_ids`); ``relatum.open(folder).graph`` is that of a project.

    >>> import relatum
    >>> graph = relatum.Graph([
    ...     ("Alien", "stars", "Sigourney Weaver"),
    ...     ("Alien", "has_genre", "Horror"),
    ...     ("Ghostbusters", "stars", "Sigourney Weaver"),
    ... ])
    >>> graph
    <Graph: 4 entities, 2 relations, 3 edges>
    >>> ("Alien", "stars", "Sigourney Weaver") in graph
    True
    >>> graph.neighbours("Sigourney Weaver", direction="in")
    [('Alien', 'stars', 'Sigourney Weaver'), ('Ghostbusters', 'stars', 'Sigourney Weaver')]

    :param triples: the training edges
    :param valid: edges that choices are made on
    :param test: edges that figures are reported on
    :param hold_out: random shares of the edges to hold out: ``"0.9/0.05/0.05"``, or ``(0.9, 0.05, 0.05)``
    :param seed: the seed with which the shares are drawn
    :param columns: the three columns of a frame that has more of them, if these are not called head, relation and tail
    :param labels: display labels of entities, by name
    :param relation_labels: the same for relations
    """

    def __init__(
        self,
        triples: Any,
        *,
        valid: Any = None,
        test: Any = None,
        hold_out: str | Sequence[float] | None = None,
        seed: int = 0,
        columns: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        relation_labels: Mapping[str, str] | None = None,
    ) -> None:
        if triples is None:
            raise TypeError("a graph is made from triples, not from None; an empty one from []")
        builder = _relatum.GraphBuilder()
        given = {"train": triples, "valid": valid, "test": test}
        found_labels: dict[str, str] = {}
        for split, source in given.items():
            if source is not None:
                builder.add(split, _rows(source, columns, found_labels))
        builder.add_labels({**found_labels, **_labels(labels, "labels")}, _labels(relation_labels, "relation_labels"))
        home = Home()
        core, report = builder.finish(home.project, _shares(hold_out), _seed(seed), _kind(triples))
        self._set(core, home, json.loads(report))

    def _set(self, core: _relatum.Engine, home: Home | None, report: dict[str, Any] | None) -> None:
        self._core = core
        self._home = home
        #: The report on making the graph: repeated triples, edges that an earlier split holds already.
        self.report: dict[str, Any] = report or {}

    @classmethod
    def _of(cls, core: _relatum.Engine, home: Home | None, report: dict[str, Any] | None = None) -> Graph:
        graph = cls.__new__(cls)
        graph._set(core, home, report)
        return graph

    @classmethod
    def from_ids(
        cls,
        triples: NDArray[Any],
        entities: Sequence[str],
        relations: Sequence[str],
        *,
        valid: NDArray[Any] | None = None,
        test: NDArray[Any] | None = None,
        hold_out: str | Sequence[float] | None = None,
        seed: int = 0,
        labels: Mapping[str, str] | None = None,
        relation_labels: Mapping[str, str] | None = None,
    ) -> Graph:
        """A graph from rows of ids (head, relation, tail) and the names in the order of the ids.

        >>> import numpy as np
        >>> Graph.from_ids(np.array([[0, 0, 1]]), ["a", "b"], ["r"])
        <Graph: 2 entities, 1 relations, 1 edges>
        """
        builder = _relatum.GraphBuilder()
        builder.add_names(_names(entities, "entities"), _names(relations, "relations"))
        for split, ids in {"train": triples, "valid": valid, "test": test}.items():
            if ids is not None:
                builder.add_ids(split, id_array(ids, 2))
        builder.add_labels(_labels(labels, "labels"), _labels(relation_labels, "relation_labels"))
        home = Home()
        core, report = builder.finish(home.project, _shares(hold_out), _seed(seed), "an array of ids")
        return cls._of(core, home, json.loads(report))

    @classmethod
    def read(
        cls,
        *files: PathLike,
        valid: PathLike | Sequence[PathLike] | None = None,
        test: PathLike | Sequence[PathLike] | None = None,
        folder: PathLike | None = None,
        hold_out: str | Sequence[float] | None = None,
        seed: int = 0,
        labels: PathLike | Sequence[PathLike] | None = None,
        format: str | None = None,
        columns: str | Sequence[str | int] | None = None,
        header: bool | None = None,
        literals: bool = False,
        named_graph: str | None = None,
        skip_bad_lines: bool = False,
        progress: _progress.Progress = False,
    ) -> Graph:
        """A graph from files: tables, RDF, or one folder of a benchmark (Query2Box, BetaE, or train/valid/test files).

        It reads the same files as ``relatum init``; with ``folder``, the project is kept there.

        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "films.tsv"
        >>> size = file.write_text("Alien\\tstars\\tSigourney Weaver\\n")
        >>> Graph.read(file)
        <Graph: 2 entities, 1 relations, 1 edges>

        :param files: tables or RDF, plain or packed (``.gz``, ``.zst``); or one folder
        :param valid: files of validation edges
        :param test: files of test edges
        :param folder: where the project is to be; else a temporary folder
        :param labels: tables of names and display labels
        :param format: the form of the files, if their names do not say it, such as ``"tsv"`` or ``"nt"``
        :param columns: which columns of a table hold head, relation and tail: ``("who", "how", "whom")``, or by number from 1
        :param header: whether a table has a line of titles; else that is found out
        :param literals: keep the literals of RDF as entities
        :param named_graph: the IRI of the named graph to read
        :param skip_bad_lines: leave out lines that cannot be read, and count them in ``report``
        """
        paths = [("train", path) for path in files]
        paths += [("valid", path) for path in _paths(valid)] + [("test", path) for path in _paths(test)]
        sources = [(split, path_of(path, "files")) for split, path in paths]
        reading = {
            "labels": [word(path_of(path, "labels"), "labels") for path in _paths(labels)],
            "hold_out": _shares(hold_out),
            "seed": _seed(seed),
            "format": word(format, "format"),
            "columns": _column_text(columns),
            "header": None if header is None else switch(header, "header"),
            "literals": switch(literals, "literals"),
            "graph": word(named_graph, "named_graph"),
            "skip_bad_lines": switch(skip_bad_lines, "skip_bad_lines"),
        }
        told = _progress.listener(progress, _progress.plain)
        home = None if folder is not None else Home()
        target = home.project if home is not None else path_of(folder, "folder")
        core, report = _relatum.Engine.create(target, sources, dumps(reading), told)
        return cls._of(core, home, json.loads(report))

    def save(self, folder: PathLike) -> Graph:
        """Writes the graph, with all its models, to a new project folder, which the command ``relatum`` can read.

        From then on, this object is that project: trained models are kept there.
        """
        self._core = self._core.copy_to(path_of(folder, "folder"))
        self._home = None
        return self

    @property
    def folder(self) -> Path | None:
        """The project folder; ``None`` if the graph was not saved."""
        return None if self._home is not None else Path(self._core.folder())

    @property
    def engine(self) -> Engine:
        """The engine that answers questions about the graph."""
        from .engine import Engine

        return Engine._of(self)

    @property
    def entities(self) -> list[str]:
        """The names of the entities, in the order of their ids."""
        return self._core.entity_names()

    @property
    def relations(self) -> list[str]:
        """The names of the relations, in the order of their ids."""
        return self._core.relation_names()

    @property
    def labels(self) -> dict[str, str]:
        """The display labels of the entities that have one, by name."""
        return self._core.entity_labels()

    @property
    def relation_labels(self) -> dict[str, str]:
        """The same for the relations."""
        return self._core.relation_labels()

    def entity_id(self, name: str) -> int:
        """The number of an entity, by its name, its IRI, its prefixed name or its label."""
        return self._core.entity_id(name)

    def relation_id(self, name: str) -> int:
        """The number of a relation."""
        return self._core.relation_id(name)

    def entity(self, id: int) -> str:
        """The name of an entity, by its number."""
        return self._core.entity_name(id)

    def relation(self, id: int) -> str:
        """The name of a relation, by its number."""
        return self._core.relation_name(id)

    def ids(self, split: str = "train") -> NDArray[np.uint32]:
        """The edges of a split as rows of ids: head, relation, tail."""
        return self._core.triples(split)

    def triples(self, split: str | None = None) -> list[tuple[str, str, str]]:
        """The edges of a split, or of all, by their names."""
        entities, relations = self.entities, self.relations
        splits = SPLITS if split is None else (split,)
        return [
            (entities[head], relations[relation], entities[tail])
            for split in splits
            for head, relation, tail in self.ids(split).tolist()
        ]

    def __len__(self) -> int:
        return sum(self._core.edge_counts())

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Every edge by its names: those of train, then valid, then test."""
        return iter(self.triples())

    def __bool__(self) -> bool:
        # A graph without edges, which a model alone answers for, is still a graph.
        return True

    def __contains__(self, triple: object) -> bool:
        if not (isinstance(triple, tuple) and len(triple) == 3):
            raise TypeError("`in` takes a triple: (head, relation, tail)")
        head, relation, tail = triple
        try:
            tail_name = self.entity(self.entity_id(tail))
            edges = self.neighbours(head, relation=relation, direction="out")
        except LookupError:
            return False
        return any(edge[2] == tail_name for edge in edges)

    def neighbours(
        self,
        name: str,
        *,
        relation: str | None = None,
        direction: str = "both",
        limit: int | None = None,
    ) -> list[tuple[str, str, str]]:
        """The edges of an entity: all, those of a relation, or those in one direction (``"out"``, ``"in"``)."""
        found = self.describe(name, relation=relation, direction=direction, limit=limit)
        return [
            (edge["head"], section["relation"], edge["tail"])
            for section in found["relations"]
            for edge in section["edges"]
        ]

    def describe(
        self,
        name: str,
        *,
        is_relation: bool = False,
        relation: str | None = None,
        direction: str | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """An entity with its edges by relation and direction, or a relation with what it connects."""
        text = self._core.describe(name, is_relation, relation, direction, offset, limit)
        described: dict[str, Any] = json.loads(text)
        return described

    def find(self, text: str, limit: int | None = 20) -> dict[str, Any]:
        """The entities and relations whose name or label contains a text."""
        found: dict[str, Any] = json.loads(self._core.find(text, limit))
        return found

    def stats(self) -> dict[str, Any]:
        """Sizes, degrees, and the relations with their cardinalities."""
        stats: dict[str, Any] = json.loads(self._core.stats())
        return stats

    def relation_stats(self) -> pd.DataFrame:
        """The relations with their edges, heads, tails and cardinalities, as a frame."""
        rows = self.stats()["by_relation"]
        columns = ["name", "label", "edges", "heads", "tails", "tails_per_head", "heads_per_tail", "cardinality"]
        return frame(rows, columns, "relation_stats()")

    def _columns(self) -> dict[str, list[str]]:
        columns: dict[str, list[str]] = {"head": [], "relation": [], "tail": [], "split": []}
        for split in SPLITS:
            triples = self.triples(split)
            for name, values in zip(columns, zip(*triples)):
                columns[name].extend(values)
            columns["split"].extend([split] * len(triples))
        return columns

    def to_pandas(self) -> pd.DataFrame:
        """The edges as a pandas frame: head, relation, tail, split."""
        result: pd.DataFrame = need("pandas", "to_pandas()").DataFrame(self._columns(), dtype=str)
        return result

    def to_polars(self) -> pl.DataFrame:
        """The edges as a polars frame: head, relation, tail, split."""
        polars = need("polars", "to_polars()")
        schema = dict.fromkeys(("head", "relation", "tail", "split"), polars.String)
        result: pl.DataFrame = polars.DataFrame(self._columns(), schema=schema)
        return result

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """The graph for networkx: the relation is the key of an edge, split and labels are attributes."""
        graph: nx.MultiDiGraph[str] = need("networkx", "to_networkx()").MultiDiGraph()
        labels = self.labels
        for name in self.entities:
            graph.add_node(name, **({"label": labels[name]} if name in labels else {}))
        for split in SPLITS:
            for head, relation, tail in self.triples(split):
                graph.add_edge(head, tail, key=relation, split=split)
        return graph

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """A project folder is pickled as its path, so that other processes open the same one."""
        if self.folder is None:
            raise TypeError("a graph that was not saved cannot be pickled: save it first, graph.save(folder)")
        return (_opened, (type(self), os.path.abspath(self.folder)))

    def __copy__(self) -> Graph:
        return type(self)._of(self._core, self._home, self.report)

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """A copy of its own, with all its models, in a temporary folder."""
        home = Home()
        copy = type(self)._of(self._core.copy_to(home.project), home, dict(self.report))
        memo[id(self)] = copy
        return copy

    def __repr__(self) -> str:
        edges = sum(self._core.edge_counts())
        return f"<Graph: {self._core.entity_count():,} entities, {self._core.relation_count():,} relations, {edges:,} edges>"


def _opened(kind: type[Graph], folder: str) -> Graph:
    return kind._of(_relatum.Engine.open(folder), None)


def films() -> Graph:
    """The embedded graph of well-known films, the one of ``relatum demo``.

    >>> films().relations[:3]
    ['directed_by', 'has_genre', 'in_language']
    """
    home = Home()
    core, report = _relatum.films().finish(home.project, None, 0, "the embedded films")
    return Graph._of(core, home, json.loads(report))


def id_array(values: Any, dimensions: int) -> NDArray[np.int64]:
    """Integers as an array of 64 bits; anything else raises an exception."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and not (array.size == 0 and array.dtype.kind == "f"):
        raise TypeError(f"ids must be whole numbers, not {array.dtype}")
    if array.size == 0 and array.ndim != dimensions:
        array = array.reshape((0, 3) if dimensions == 2 else (0,))
    if array.ndim != dimensions:
        raise DataError(f"expected an array of {dimensions} dimensions, not {array.ndim}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError("an id is larger than any graph allows")
    return array.astype(np.int64, copy=False)


def _names(names: Sequence[str], what: str) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"`{what}` must be a sequence of names, not one str")
    result = [str(name) if isinstance(name, np.str_) else name for name in names]
    for name in result:
        if not isinstance(name, str):
            raise TypeError(f"`{what}` must be names (str), not {type(name).__name__}")
        if not name:
            raise DataError(f"`{what}` must not hold an empty name")
    return result


def _labels(labels: Mapping[str, str] | None, what: str) -> dict[str, str]:
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"`{what}` must be a dict of labels by name, not {type(labels).__name__}")
    return dict(labels)


def _paths(given: PathLike | Sequence[PathLike] | None) -> list[PathLike]:
    if given is None:
        return []
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)


def _column_text(columns: str | Sequence[str | int] | None) -> str | None:
    if columns is None or isinstance(columns, str):
        return word(columns, "columns")
    return word(",".join(str(column) for column in several(columns, "columns")), "columns")


def _seed(seed: int) -> int:
    found = seed_of(seed)
    return 0 if found is None else found


def _shares(shares: str | Sequence[float] | None) -> str | None:
    if shares is None or isinstance(shares, str):
        return word(shares, "hold_out")
    return "/".join(str(share) for share in numbers(shares, "hold_out"))


def _kind(source: Any) -> str:
    kind = type(source)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else f"a {kind.__qualname__}"


def _rows(source: Any, columns: Sequence[str] | None, labels: dict[str, str]) -> Iterable[Any]:
    """The triples of any supported source."""
    package = type(source).__module__.split(".")[0]
    if isinstance(source, (str, bytes, os.PathLike)):
        raise TypeError("a graph is made from triples; from files: relatum.Graph.read(path)")
    if isinstance(source, Graph):
        return source.triples()
    if package in ("pandas", "polars") and hasattr(type(source), "columns"):
        return frames.rows(source, columns)
    if columns is not None:
        raise TypeError(f"`columns` belongs to a frame, and this is {_kind(source)}")
    if package == "rdflib":
        return _rdf(source, labels)
    if isinstance(source, np.ndarray):
        if source.ndim != 2 or source.shape[1] != 3:
            raise DataError(f"expected an array of three columns, not of shape {source.shape}")
        if source.dtype.kind in "iu":
            raise TypeError("an array of ids needs names: relatum.Graph.from_ids(array, entities, relations)")
        if source.dtype.kind not in "UTO":
            raise TypeError(f"an array of triples holds names (str), not {source.dtype}")
        return source.tolist()  # type: ignore[no-any-return]
    if not isinstance(source, Iterable):
        raise TypeError(f"a graph is made from triples, a frame, an array or an rdflib.Graph, not {type(source).__name__}")
    return source


def _rdf(graph: Any, labels: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    """The triples of an ``rdflib.Graph``, read like a file: labels are display labels, other literals are left out."""
    rdflib = need("rdflib", "a graph of rdflib")
    for subject, predicate, object_ in graph:
        if predicate == rdflib.RDFS.label and isinstance(object_, rdflib.Literal):
            labels.setdefault(_rdf_name(subject, rdflib), str(object_))
    used: set[str] = set()
    for subject, predicate, object_ in graph:
        if isinstance(object_, rdflib.Literal):
            continue
        triple = (_rdf_name(subject, rdflib), str(predicate), _rdf_name(object_, rdflib))
        used.update((triple[0], triple[2]))
        yield triple
    for name in [name for name in labels if name not in used]:
        del labels[name]


def _rdf_name(node: Any, rdflib: Any) -> str:
    return f"_:{node}" if isinstance(node, rdflib.BNode) else str(node)
