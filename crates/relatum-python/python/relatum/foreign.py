"""Predictors that were trained elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _relatum
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
    """A model of matrices: a row for each entity and for each relation.

    ``relation`` holds the rows of the graph's relations and, after them, those of the reciprocal relations; or these
    are given as ``inverse``; or they are computed, which ComplEx, DistMult, TransE, RotatE and CP allow. Complex
    matrices are taken as they are; as real ones, a row has all real parts, then all imaginary parts.

    Without a graph, there is one with the given names and no edges: questions are answered by the model alone.

    >>> import numpy as np
    >>> model = from_numpy(np.eye(3), np.ones((1, 3)), ["a", "b", "c"], ["same"], predictor="distmult")
    >>> model.score("a", "same", "a"), model.score("a", "same", "b")
    (1.0, 0.0)
    """
    rank_two = {"transe-norm": "transe", "rotate-norm": "rotate"}
    kind = rank_two.get(predictor, predictor)
    entities = _matrix(entity, "entity", complex_as_pairs=True)
    angles = kind == "rotate" and np.iscomplexobj(relation)
    relations = np.angle(np.asarray(relation)) if angles else np.asarray(relation)
    relations = _matrix(relations, "relation", complex_as_pairs=True)
    if inverse is not None:
        turned = np.angle(np.asarray(inverse)) if angles else np.asarray(inverse)
        relations = np.concatenate([relations, _matrix(turned, "inverse", complex_as_pairs=True)])
    if graph is not None:
        _graph(graph)
        count = len(graph.relations)
    else:
        given = len(relation_names) if relation_names is not None else len(relations)
        if relation_names is None and inverse is not None:
            given = len(relations) // 2
        count = given
        own_entities = _names(entity_names, "entity_names") if entity_names is not None else _numbers(len(entities))
        own_relations = _names(relation_names, "relation_names") if relation_names is not None else _numbers(count)
        nothing = np.empty((0, 3), dtype=np.int64)
        graph = Graph.from_ids(nothing, own_entities, own_relations)
        entity_names, relation_names = own_entities, own_relations
    if len(relations) == count and inverse is None:
        entities, relations = _with_reciprocals(kind, entities, relations)
    rows = None
    if relation_names is not None:
        forward = _names(relation_names, "relation_names")
        rows = forward if len(forward) == len(relations) else [*forward, *(f"{each}{_INVERSE}" for each in forward)]
    imported = graph._core.import_arrays(
        entities,
        relations,
        _names(entity_names, "entity_names") if entity_names is not None else None,
        rows,
        predictor,
        name,
        replace,
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

    The rows are in the order of the graph's ids, or named by lists of names. Without a graph, there is one of numbered
    entities and relations without edges. Nothing in the file is ever executed.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a checkpoint is named by a str or a Path, not {type(path).__name__}")
    entities, relations, kind = _relatum.read_tables([path])
    entity_list, relation_list = _list_of_names(entity_names), _list_of_names(relation_names)
    half = len(relations) // 2
    if graph is None and relation_list is None:
        relation_list = _numbers(half)
    if relation_list is not None and len(relation_list) == len(relations):
        forward = relation_list
    else:
        forward = relation_list if relation_list is not None else None
    if graph is None:
        graph = Graph.from_ids(
            np.empty((0, 3), dtype=np.int64),
            entity_list if entity_list is not None else _numbers(len(entities)),
            [each for each in forward or [] if not each.endswith(_INVERSE)],
        )
    return from_numpy(
        entities,
        relations,
        entity_list,
        forward,
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

    TransE must measure by the norm p=2: the sum of absolute differences (p=1) is no inner product, and every search of
    Relatum rests on one. A model that was trained with inverse triples keeps its own rows for reciprocal relations;
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
        # PyKEEN stands each relation beside its inverse: r, r⁻¹, s, s⁻¹, …
        inverse, relations = relations[1::2], relations[0::2]
    elif len(relations) != len(relation_names):
        raise ValueError(
            f"the model has {len(relations)} relations and the factory {len(relation_names)}: is it the one that the "
            "model was trained with?"
        )
    if len(entities) != len(entity_names):
        raise ValueError(
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
        raise ValueError(
            f"{kind} cannot be taken over: only ComplEx, DistMult, TransE, RotatE and CP have scores that are inner "
            "products of one vector for (head, relation) with one for the tail"
        )
    entities = [_array(of(indices=None)) for of in model.entity_representations]
    relations = [_array(of(indices=None)) for of in model.relation_representations]
    if acts == "CP":
        if len(entities) != 2:
            raise ValueError(f"CP has rows for heads and for tails, but this one has {len(entities)} tables")
        head, tail = (table.reshape(len(table), -1) for table in entities)
        return "cp", np.concatenate([head, tail], axis=1), relations[0].reshape(len(relations[0]), -1)
    if acts in ("TransE", "RotatE"):
        p, squared = getattr(interaction, "p", None), bool(getattr(interaction, "power_norm", False))
        if p != 2:
            raise ValueError(
                f"{acts} with the norm p={p} cannot be taken over: its score is no inner product, and every search of "
                "Relatum rests on one; train it with the norm p=2 (for TransE: scoring_fct_norm=2)"
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
        raise ValueError(
            f"the reciprocal relations of {kind!r} cannot be computed: give them as `inverse`, or name a predictor: "
            "complex, distmult, cp, rotate or transe"
        )
    return np.ascontiguousarray(entities), np.concatenate([relations, backwards])


def _matrix(values: Any, what: str, *, complex_as_pairs: bool) -> NDArray[np.float32]:
    array = np.asarray(values)
    if array.dtype.kind not in "fciu":
        raise TypeError(f"`{what}` must be numbers, not {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"`{what}` must have two dimensions, rows and factors, not {array.ndim}")
    if complex_as_pairs and np.iscomplexobj(array):
        array = np.concatenate([array.real, array.imag], axis=1)
    return np.ascontiguousarray(array, dtype=np.float32)


def _array(tensor: Any) -> NDArray[Any]:
    """A tensor of PyTorch, without a need of PyTorch here."""
    for step in ("detach", "cpu", "numpy"):
        tensor = getattr(tensor, step)() if hasattr(tensor, step) else tensor
    return np.asarray(tensor)


def _by_id(to_id: Any) -> list[str]:
    names = sorted(to_id, key=to_id.__getitem__)
    if [to_id[each] for each in names] != list(range(len(names))):
        raise ValueError("the ids of the factory must count from 0 without gaps")
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


def _name_of(imported: str) -> str:
    import json

    return str(json.loads(imported)["name"])
