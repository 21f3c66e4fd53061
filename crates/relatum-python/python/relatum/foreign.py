"""Link predictors that were trained by other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _relatum
from ._arguments import path as path_of, switch, word
from .errors import DataError, MisuseError
from .graph import Graph, PathLike, _names
from .model import Model, _graph

__all__ = ["from_kbc", "from_numpy", "from_pykeen"]

_INVERSE = "⁻¹"


def from_numpy(
    entity: NDArray[Any],
    relation: NDArray[Any],
    entity_names: Sequence[str] | None = None,
    relation_names: Sequence[str] | None = None,
    *,
    predictor: str = "complex",
    graph: Graph | None = None,
    inverse: NDArray[Any] | None = None,
    name: str | None = None,
    replace: bool = False,
) -> Model:
    """Makes a model from matrices: a row for each entity and for each relation.

    ``relation`` holds the rows of the graph's relations and, after them, those of the reciprocal relations; or these
    are given as ``inverse``; or they are computed, which ComplEx, DistMult, TransE, RotatE and CP allow. Complex
    matrices are taken as they are; as real ones, a row has all real parts, then all imaginary parts.

    Without a graph, one is made with the given names and no edges: questions are answered by the model alone.

    >>> import numpy as np
    >>> model = from_numpy(np.eye(3), np.ones((1, 3)), ["a", "b", "c"], ["same"], predictor="distmult")
    >>> model.score("a", "same", "a"), model.score("a", "same", "b")
    (1.0, 0.0)
    """
    kind = _given(word(predictor, "predictor"), "predictor").removesuffix("-norm")
    entities = _matrix(entity, "entity")
    relations = _relation_matrix(relation, kind, "relation")
    if inverse is not None:
        relations = np.concatenate([relations, _relation_matrix(inverse, kind, "inverse")])
    if graph is None:
        entity_names = _numbers(len(entities)) if entity_names is None else _names(entity_names, "entity_names")
        if relation_names is None:
            relation_names = _numbers(len(relations) // (1 if inverse is None else 2))
        relation_names = _names(relation_names, "relation_names")
        graph = Graph.from_ids(np.empty((0, 3), dtype=np.int64), entity_names, relation_names)
    wanted = _graph(graph)._core.relation_rows()
    rows = None if relation_names is None else _names(relation_names, "relation_names")
    forward = rows if rows is not None else graph.relations
    if len(relations) == len(graph.relations) < len(wanted) and len(forward) == len(relations):
        entities, relations = _with_reciprocals(kind, entities, relations)
        rows = [*forward, *_reciprocal(forward)]
        # Relations that are inverses of each other in the graph need no reciprocal ones.
        kept = [row for row, each in enumerate(rows) if each in set(wanted)]
        relations, rows = relations[kept], [rows[row] for row in kept]
    elif rows is not None and 2 * len(rows) == len(relations):
        rows = [*rows, *_reciprocal(rows)]
    imported = graph._core.import_arrays(
        entities,
        relations,
        _names(entity_names, "entity_names") if entity_names is not None else None,
        rows,
        predictor,
        word(name, "name"),
        switch(replace, "replace"),
        "matrices in memory",
    )
    return Model._of(graph, _name_of(imported))


def from_kbc(
    path: PathLike,
    graph: Graph | None = None,
    *,
    predictor: str | None = None,
    entity_names: PathLike | Sequence[str] | None = None,
    relation_names: PathLike | Sequence[str] | None = None,
    name: str | None = None,
    replace: bool = False,
) -> Model:
    """A checkpoint of kbc or CQD, such as ``best.pt``: ComplEx, CP or DistMult with reciprocal relations.

    The rows are in the order of the graph's ids, or named by lists of names. Without a graph, one is made of numbered
    entities and relations without edges. Nothing in the file is ever executed.
    """
    entities, relations, kind = _relatum.read_tables([path_of(path, "path")])
    entity_list, relation_list = _list_of_names(entity_names), _list_of_names(relation_names)
    if graph is None:
        # Such a checkpoint holds every relation twice: as it is, and read backwards.
        entity_list = entity_list or _numbers(len(entities))
        relation_list = relation_list or _numbers(len(relations) // 2)
        forward = [each for each in relation_list if not each.endswith(_INVERSE)]
        graph = Graph.from_ids(np.empty((0, 3), dtype=np.int64), entity_list, forward)
    return from_numpy(
        entities,
        relations,
        entity_list,
        relation_list,
        predictor=predictor or kind or "complex",
        graph=graph,
        name=name,
        replace=replace,
    )


def from_pykeen(
    model: Any,
    triples_factory: Any,
    *,
    graph: Graph | None = None,
    valid: Any = None,
    test: Any = None,
    name: str | None = None,
    replace: bool = False,
) -> Model:
    """A model of PyKEEN: ComplEx, DistMult, TransE, RotatE or CP, with the same scores.

    TransE must use the norm p=2: the sum of absolute differences (p=1) is not an inner product, and every search of
    Relatum needs one. A model that was trained with inverse triples keeps its own rows for reciprocal relations;
    without them they are computed, so that heads are scored as PyKEEN scores them.

    :param model: the model
    :param triples_factory: the ``TriplesFactory`` it was trained with: its names, its triples
    :param graph: the graph to take in place of the factory's triples; its names must be the same
    :param valid: another factory, whose triples are the validation edges
    :param test: the same for test edges
    """
    factory = triples_factory
    for attribute in ("entity_to_id", "relation_to_id", "mapped_triples"):
        if not hasattr(factory, attribute):
            raise TypeError(
                f"expected a TriplesFactory of PyKEEN with names (it has entity_to_id, relation_to_id and "
                f"mapped_triples), not {type(factory).__name__}"
            )
    predictor, entities, relations = _pykeen_arrays(model)
    entity_names = _by_id(factory.entity_to_id)
    relation_names = _by_id(factory.relation_to_id)
    inverse = None
    if len(relations) == 2 * len(relation_names):
        # PyKEEN puts each relation next to its inverse: r, r⁻¹, s, s⁻¹, …
        inverse, relations = relations[1::2], relations[0::2]
    elif len(relations) != len(relation_names):
        raise MisuseError(
            f"the model has {len(relations)} relations and the factory {len(relation_names)}: is it the one that the "
            "model was trained with?"
        )
    if len(entities) != len(entity_names):
        raise MisuseError(
            f"the model has {len(entities)} entities and the factory {len(entity_names)}: is it the one that the "
            "model was trained with?"
        )
    if graph is None:
        splits = {"train": factory, "valid": valid, "test": test}
        ids = {split: _array(of.mapped_triples) for split, of in splits.items() if of is not None}
        graph = Graph.from_ids(
            ids["train"], entity_names, relation_names, valid=ids.get("valid"), test=ids.get("test")
        )
    return from_numpy(
        entities,
        relations,
        entity_names,
        relation_names,
        predictor=predictor,
        graph=graph,
        inverse=inverse,
        name=name,
        replace=replace,
    )


def _pykeen_arrays(model: Any) -> tuple[str, NDArray[Any], NDArray[Any]]:
    """The predictor's name with its rows of entities and relations."""
    kind = type(model).__name__
    interaction = getattr(model, "interaction", None)
    acts = type(interaction).__name__.removesuffix("Interaction")
    if acts not in ("ComplEx", "DistMult", "TransE", "RotatE", "CP"):
        raise MisuseError(
            f"{kind} cannot be taken over: only ComplEx, DistMult, TransE, RotatE and CP have scores that are inner "
            "products of one vector for (head, relation) with one for the tail"
        )
    entities = [_array(of(indices=None)) for of in model.entity_representations]
    relations = [_array(of(indices=None)) for of in model.relation_representations]
    if acts == "CP":
        if len(entities) != 2:
            raise DataError(f"CP has rows for heads and for tails, but this one has {len(entities)} tables")
        head, tail = (table.reshape(len(table), -1) for table in entities)
        return "cp", np.concatenate([head, tail], axis=1), relations[0].reshape(len(relations[0]), -1)
    if acts in ("TransE", "RotatE"):
        p, squared = getattr(interaction, "p", None), bool(getattr(interaction, "power_norm", False))
        if p != 2:
            raise MisuseError(
                f"{acts} with the norm p={p} cannot be taken over: its score is not an inner product, and every search "
                "of Relatum needs one; train it with the norm p=2 (for TransE: scoring_fct_norm=2)"
            )
        return acts.lower() + ("" if squared else "-norm"), entities[0], relations[0]
    return acts.lower(), entities[0], relations[0]


def _with_reciprocals(
    kind: str, entities: NDArray[np.float32], relations: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows that read every relation backwards with the same score: ``s(t, r⁻¹, h) = s(h, r, t)``."""
    half = relations.shape[1] // 2
    if kind == "distmult":
        backwards = relations
    elif kind == "complex":
        backwards = np.concatenate([relations[:, :half], -relations[:, half:]], axis=1)
    elif kind in ("transe", "rotate"):
        backwards = -relations
    elif kind == "cp":
        # An entity has one vector as a head, u, and one as a tail, v. At twice the rank, [u, v] as a head and [v, u] as
        # a tail, a relation [r, 0] scores u·r·v, and its reciprocal [0, r] the same edge from the tail.
        width = entities.shape[1] // 2
        head, tail = entities[:, :width], entities[:, width:]
        entities = np.concatenate([head, tail, tail, head], axis=1)
        nothing = np.zeros_like(relations)
        backwards = np.concatenate([nothing, relations], axis=1)
        relations = np.concatenate([relations, nothing], axis=1)
    else:
        raise MisuseError(
            f"the reciprocal relations of {kind!r} cannot be computed: give them as `inverse`, or name a predictor: "
            "complex, distmult, cp, rotate or transe"
        )
    return np.ascontiguousarray(entities), np.concatenate([relations, backwards])


def _relation_matrix(values: Any, kind: str, what: str) -> NDArray[np.float32]:
    """The rows of relations; those of RotatE become angles, even if they are given as rotations."""
    array = np.asarray(values)
    return _matrix(np.angle(array) if kind == "rotate" and np.iscomplexobj(array) else array, what)


def _matrix(values: Any, what: str) -> NDArray[np.float32]:
    """Numbers as rows of 32 bits; complex ones as all real parts, then all imaginary parts."""
    array = np.asarray(values)
    if array.dtype.kind not in "fciu":
        raise TypeError(f"`{what}` must be numbers, not {array.dtype}")
    if array.ndim != 2:
        raise DataError(f"`{what}` must have two dimensions, rows and factors, not {array.ndim}")
    if np.iscomplexobj(array):
        array = np.concatenate([array.real, array.imag], axis=1)
    return np.ascontiguousarray(array, dtype=np.float32)


def _array(tensor: Any) -> NDArray[Any]:
    """A tensor of PyTorch as an array, without importing PyTorch."""
    for step in ("detach", "cpu", "numpy"):
        tensor = getattr(tensor, step)() if hasattr(tensor, step) else tensor
    return np.asarray(tensor)


def _reciprocal(names: Sequence[str]) -> list[str]:
    return [f"{name}{_INVERSE}" for name in names]


def _by_id(to_id: Any) -> list[str]:
    names = sorted(to_id, key=to_id.__getitem__)
    if [to_id[each] for each in names] != list(range(len(names))):
        raise DataError("the ids of the factory must count from 0 without gaps")
    return [str(each) for each in names]


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _list_of_names(given: PathLike | Sequence[str] | None) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        with open(given, encoding="utf-8") as file:
            return file.read().splitlines()
    return _names(given, "names")


def _given(text: str | None, name: str) -> str:
    if text is None:
        raise TypeError(f"`{name}` must be a str, not None")
    return text


def _name_of(imported: str) -> str:
    import json

    return str(json.loads(imported)["name"])
