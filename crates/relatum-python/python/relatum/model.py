"""Link predictors: trained, measured, saved, merged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _progress, _relatum
from ._arguments import count, counts, dumps, number, numbers, path as path_of, seed as seed_of, several, switch, word, words
from ._optional import frame
from .engine import Engine
from .errors import MisuseError, OptionsError
from .graph import Graph, PathLike, id_array

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from .answers import Answers
    from .engine import Options
    from .query import Formula, Variable

__all__ = ["Model", "grid_search", "merge", "train"]


class Model:
    """A link predictor of a graph: how likely is an edge?

    :func:`train`, :func:`merge`, :meth:`load` and ``relatum.from_pykeen`` make one; ``engine.model(name)`` is one of a
    project.
    """

    __slots__ = ("_graph", "_name", "_open")
    _graph: Graph
    _name: str
    _open: _relatum.Model

    def __init__(self) -> None:
        raise TypeError("a model is trained, loaded or taken from a project: relatum.train(graph), engine.model(name)")

    @classmethod
    def _of(cls, graph: Graph, name: str | None) -> Model:
        model = cls.__new__(cls)
        model._graph = graph
        model._open = graph._core.model(name)
        model._name = model._open.name()
        return model

    @classmethod
    def load(
        cls,
        path: PathLike,
        graph: Graph,
        *,
        name: str | None = None,
        predictor: str | None = None,
        replace: bool = False,
    ) -> Model:
        """Reads a model of a graph that :meth:`save` or another program wrote: ``.safetensors``, a folder of ``.npy``
        arrays, a checkpoint ``.pt``. Nothing in a checkpoint is ever executed."""
        graph = _graph(graph)
        arguments = {
            "files": [word(path_of(path, "path"), "path")],
            "name": word(name, "name"),
            "predictor": word(predictor, "predictor"),
            "entity_names": None,
            "relation_names": None,
            "replace": switch(replace, "replace"),
        }
        imported = json.loads(graph._core.import_files(dumps(arguments)))
        return cls._of(graph, imported["name"])

    def save(self, path: PathLike) -> None:
        """Writes the model as one ``.safetensors`` file, or as a folder of ``.npy`` arrays with lists of names."""
        self._graph._core.export(self._name, path_of(path, "path"))

    @property
    def name(self) -> str:
        """Its name in the project."""
        return self._name

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def engine(self) -> Engine:
        """The engine that answers questions about the graph."""
        return self._graph.engine

    @property
    def card(self) -> dict[str, Any]:
        """The card of the model: predictor, rank, origin, training, epoch, validation."""
        card: dict[str, Any] = json.loads(self._open.card())
        return card

    @property
    def predictor(self) -> str:
        """The kind of link predictor, such as ``complex``."""
        card = self.card
        return str(card.get("predictor", card.get("model")))

    @property
    def rank(self) -> int:
        """Factors of a row."""
        return int(self.card["rank"])

    @property
    def unfinished(self) -> str | None:
        """How far its training has come, where that is not finished."""
        return self._open.unfinished()

    @property
    def is_calibrated(self) -> bool:
        """Whether it has an adaptive calibration."""
        return self._open.is_calibrated()

    @property
    def is_fitted(self) -> bool:
        """Whether it has a fitted calibration, with which truth values are probabilities."""
        return self._open.is_fitted()

    @property
    def entity_embeddings(self) -> NDArray[np.float32]:
        """One row for each entity: the model's own memory, without a copy and read-only.

        >>> import relatum
        >>> model = relatum.train(relatum.Graph([("a", "r", "b")]), rank=2, epochs=1, progress=False)
        >>> model.entity_embeddings.shape, model.entity_embeddings.flags.writeable
        ((2, 4), False)
        """
        return self._open.entities()

    @property
    def relation_embeddings(self) -> NDArray[np.float32]:
        """The same for relations: those of the graph, then the reciprocal ones; :attr:`relation_rows` names them."""
        return self._open.relations()

    @property
    def relation_rows(self) -> list[str]:
        """The names of the rows of :attr:`relation_embeddings`."""
        return self._graph._core.relation_rows()

    @overload
    def score(self, head: str, relation: str, tail: str) -> float: ...
    @overload
    def score(self, head: Any, relation: Any, tail: Any) -> float | NDArray[np.float32]: ...
    def score(self, head: Any, relation: Any, tail: Any) -> float | NDArray[np.float32]:
        """The raw score of an edge, or of many: names or ids, single ones or arrays of them.

        This is the score before any calibration; :meth:`ask` gives truth values.
        """
        core = self._graph._core
        heads, one = _ids(head, core.entity_id, "head")
        relations, two = _ids(relation, core.relation_id, "relation")
        tails, three = _ids(tail, core.entity_id, "tail")
        many = np.broadcast_arrays(heads, relations, tails)
        scores = self._open.scores(*(np.ascontiguousarray(ids) for ids in many))
        return float(scores[0]) if one and two and three else scores

    def scores(self, head: str | int | None, relation: str | int, tail: str | int | None) -> NDArray[np.float32]:
        """The raw scores of every entity at the open end: ``scores("Alien", "stars", None)``, or with the head open."""
        if (head is None) == (tail is None):
            raise OptionsError("exactly one of head and tail must be None: the end that is open")
        known = head if head is not None else tail
        return self._open.row(self._entity(known), self._relation(relation), head is not None)

    def top_tails(
        self, head: str | int, relation: str | int, top: int = 10, *, new_only: bool = False
    ) -> pd.DataFrame:
        """The best tails of ``relation(head, ?)`` by raw score: entity, label, score, and the split that holds the edge."""
        return self._best(head, relation, True, top, new_only)

    def top_heads(
        self, relation: str | int, tail: str | int, top: int = 10, *, new_only: bool = False
    ) -> pd.DataFrame:
        """The best heads of ``relation(?, tail)`` by the score of the reciprocal relation."""
        return self._best(tail, relation, False, top, new_only)

    def _best(
        self, entity: str | int, relation: str | int, outgoing: bool, top: int, new_only: bool
    ) -> pd.DataFrame:
        entity_id, relation_id = self._entity(entity), self._relation(relation)
        rows = json.loads(self._open.candidates(entity_id, relation_id, outgoing, top, new_only))
        return frame(rows, ["entity", "label", "score", "stored"], "the best entities")

    def _entity(self, entity: Any) -> int:
        return _one(entity, self._graph._core.entity_id, "entity")

    def _relation(self, relation: Any) -> int:
        return _one(relation, self._graph._core.relation_id, "relation")

    @overload
    def ask(
        self,
        question: str | Formula | tuple[Any, ...],
        *,
        target: Variable | str | None = None,
        **options: Unpack[Options],
    ) -> Answers: ...
    @overload
    def ask(
        self, question: list[Any], *, target: Variable | str | None = None, **options: Unpack[Options]
    ) -> list[Answers]: ...
    def ask(
        self, question: Any, *, target: Variable | str | None = None, **options: Unpack[Options]
    ) -> Answers | list[Answers]:
        """Asks with this model; see :meth:`Engine.ask`."""
        if options.get("model") is not None:
            raise TypeError("`model` cannot be chosen here: a model asks with itself; engine.ask takes any")
        options["model"] = self._name
        answers: Answers | list[Answers] = self.engine.ask(question, target=target, **options)
        return answers

    def evaluate(
        self,
        split: str | None = None,
        *,
        ties: str = "mean",
        by_relation: bool = False,
        evidence: str = "model",
        rules: str | None = None,
        progress: _progress.Progress = False,
    ) -> pd.DataFrame:
        """How well the model predicts the edges of a split from both their ends: filtered MRR and Hits@1, 3 and 10, in
        all or by relation, as a frame. With ``evidence="both"`` the rules of the project speak beside it, with
        ``"rules"`` in its place."""
        given = {"split": split, "ties": ties, "evidence": evidence, "rules": rules}
        arguments = dumps({"model": self._name, **{name: word(value, name) for name, value in given.items()}})
        told = _progress.listener(progress, _progress.plain)
        found = json.loads(self._graph._core.link_eval(arguments, told))
        figures = ["count", "mrr", "hits@1", "hits@3", "hits@10"]
        if by_relation:
            rows = [
                {"relation": row["relation"], "predicts": row["predicts"], **row["metrics"]}
                for row in found["relations"]
            ]
            result = frame(rows, ["relation", "predicts", *figures], "evaluate()")
        else:
            rows = [{"of": name, **found[name]} for name in ("overall", "tails", "heads", "queries")]
            result = frame(rows, ["of", *figures], "evaluate()").set_index("of")
        result.attrs.update({name: found[name] for name in ("model", "predictor", "rank", "split", "ties")})
        return result

    def calibrate(
        self,
        *,
        kind: Literal["fitted", "adaptive"] = "fitted",
        measure: int | None = None,
        queries: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        binary: float | None = None,
        seed: int | None = None,
        progress: _progress.Progress = False,
    ) -> dict[str, Any]:
        """Learns how raw scores become truth values, and keeps it with the model. Returns a summary.

        ``"fitted"``: a curve for each relation, fitted to the validation edges, that makes truth values probabilities:
        ``ask(…, calibration="fitted")``. The summary says how reliable they are before and after, measured on
        ``measure`` (head, relation) pairs of each split (3000). ``"adaptive"``: an affine map of each relation's scores,
        learned from small questions; the other arguments are its own."""
        own = {"queries": queries, "epochs": epochs, "learning_rate": learning_rate, "binary": binary, "seed": seed}
        if kind == "fitted":
            if given := [name for name, value in own.items() if value is not None]:
                raise OptionsError(f"`{given[0]}` belongs to kind=\"adaptive\"")
            pairs = count(measure, "measure")
            fit = {"name": self._name, "measure": 3000 if pairs is None else pairs}
            fitted: dict[str, Any] = json.loads(self._graph._core.fit(dumps(fit)))
            self._open = self._graph._core.model(self._name)
            return fitted
        if kind != "adaptive":
            raise OptionsError(f"`kind` must be \"fitted\" or \"adaptive\", not {kind!r}")
        if measure is not None:
            raise OptionsError('`measure` belongs to kind="fitted"')
        arguments = {
            "name": self._name,
            "queries": count(queries, "queries"),
            "epochs": count(epochs, "epochs"),
            "learning_rate": number(learning_rate, "learning_rate"),
            "binary": number(binary, "binary"),
            "seed": seed_of(seed),
        }
        told = _progress.listener(progress, _progress.plain)
        done: dict[str, Any] = json.loads(self._graph._core.calibrate(dumps(arguments), told))
        self._open = self._graph._core.model(self._name)
        return done

    def merge(self, *others: Model, weights: Sequence[float] = (), name: str, replace: bool = False) -> Model:
        """One model whose score is the weighted sum of this one's and the others'; see :func:`merge`."""
        return merge([self, *others], weights=weights, name=name, replace=replace)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_model, (self._graph, self._name))

    def __repr__(self) -> str:
        state = f", {self.unfinished}" if self.unfinished else ""
        return f"<Model {self._name}: {self.predictor}, rank {self.rank}{state}>"


def train(
    graph: Graph,
    model: str | None = None,
    rank: int | None = None,
    *,
    epochs: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    regularizer: str | None = None,
    regularizer_weight: float | None = None,
    optimizer: str | None = None,
    relation_loss: float | None = None,
    candidates: int | str | None = None,
    cool_down: int | None = None,
    init_scale: float | None = None,
    eval_every: int | None = None,
    patience: int | None = None,
    seed: int | None = None,
    search: float | bool | None = None,
    name: str | None = None,
    resume: bool = False,
    restart: bool = False,
    progress: _progress.Progress = True,
) -> Model:
    """Trains a link predictor on the training edges of a graph; omitted settings are chosen by the graph's size.

    Ctrl-C and an exception of a ``progress`` function stop it and keep its state: ``train(graph, resume=True)`` goes on.

    >>> import relatum
    >>> graph = relatum.films()
    >>> losses = []
    >>> def note(event):
    ...     if event["event"] == "epoch":
    ...         losses.append(event["loss"])
    >>> relatum.train(graph, "distmult", rank=8, epochs=2, progress=note)
    <Model default: distmult, rank 8>
    >>> len(losses)
    2

    :param graph: a :class:`Graph`, or an :class:`Engine`
    :param model: ``complex``, ``distmult``, ``cp``, ``rotate`` or ``transe``
    :param candidates: how many random entities stand for all in the softmax, or ``"all"``
    :param search: how much work the search for ``regularizer_weight``, ``learning_rate``, ``batch_size`` and
        ``relation_loss`` may take, where they are not given, as a share of the run itself; ``False`` for none. By
        default a quarter, and none on graphs that train in seconds
    :param name: the name of the model in the project
    :param resume: go on with a run that was stopped or killed
    :param restart: begin anew, replacing the model of that name
    :param progress: ``True`` for a bar, a function that hears every event, or ``False``
    """
    graph = _graph(graph)
    given: dict[str, Any] = {
        "predictor": word(model, "model"),
        "rank": count(rank, "rank"),
        "epochs": count(epochs, "epochs"),
        "batch_size": count(batch_size, "batch_size"),
        "regularizer": word(regularizer, "regularizer"),
        "regularizer_weight": number(regularizer_weight, "regularizer_weight"),
        "optimizer": word(optimizer, "optimizer"),
        "learning_rate": number(learning_rate, "learning_rate"),
        "cool_down": count(cool_down, "cool_down"),
        "relation_loss": number(relation_loss, "relation_loss"),
        "candidates": _candidates(candidates),
        "init_scale": number(init_scale, "init_scale"),
        "seed": seed_of(seed),
        "eval_every": count(eval_every, "eval_every"),
        "patience": count(patience, "patience"),
    }
    goes_on, anew = switch(resume, "resume"), switch(restart, "restart")
    if goes_on and anew:
        raise OptionsError("`resume` goes on and `restart` begins anew: choose one")
    share = search if isinstance(search, bool) else number(search, "search")
    if goes_on and share is not None:
        raise OptionsError("`resume` goes on with the search that the run was begun with: leave `search` out")
    start = {"resume": goes_on, "restart": anew, "search": share}
    arguments = dumps({"name": word(name, "name"), "settings": given, **start})
    told = _progress.listener(progress, _progress.training)
    trained = json.loads(graph._core.train(arguments, told))
    return Model._of(graph, trained["name"])


def grid_search(
    graph: Graph,
    *,
    models: Sequence[str] = (),
    ranks: Sequence[int] = (),
    batch_sizes: Sequence[int] = (),
    regularizer_weights: Sequence[float] = (),
    learning_rates: Sequence[float] = (),
    relation_losses: Sequence[float] = (),
    epochs: int | None = None,
    seed: int | None = None,
    name: str | None = None,
    replace: bool = False,
    progress: _progress.Progress = True,
) -> pd.DataFrame:
    """Trains every combination, installs the best by validation MRR as the model ``name``, and returns a frame of all,
    best first. If it is stopped, the same grid goes on where it was.

    >>> import relatum
    >>> edges = [(f"e{i}", "next", f"e{(i + 1) % 20}") for i in range(20)]
    >>> graph = relatum.Graph(edges, hold_out=(0.8, 0.1, 0.1))
    >>> tried = relatum.grid_search(graph, ranks=[2, 4], learning_rates=[0.1], epochs=1, progress=False)
    >>> sorted(tried["rank"])
    [2, 4]
    """
    graph = _graph(graph)
    grid = {
        "predictors": words(models, "models"),
        "ranks": counts(ranks, "ranks"),
        "batch_sizes": counts(batch_sizes, "batch_sizes"),
        "regularizer_weights": numbers(regularizer_weights, "regularizer_weights"),
        "learning_rates": numbers(learning_rates, "learning_rates"),
        "relation_losses": numbers(relation_losses, "relation_losses"),
    }
    settings = {"epochs": count(epochs, "epochs"), "seed": seed_of(seed)}
    told = _progress.listener(progress, _progress.training)
    given = {"name": word(name, "name"), "grid": grid, "settings": settings, "replace": switch(replace, "replace")}
    arguments = dumps(given)
    found = json.loads(graph._core.grid(arguments, told))
    rows = []
    for trial in found["trials"]:
        chosen = trial["settings"]
        valid = trial["valid"] or {}
        hits = valid.get("hits", [None] * 3)
        rows.append(
            {
                "model": chosen.get("model", chosen.get("predictor")),
                **{key: chosen[key] for key in ("rank", "batch_size", "regularizer_weight", "learning_rate")},
                "relation_loss": chosen["relation_loss"],
                "epochs": trial["epochs"],
                "best_epoch": trial["best_epoch"],
                "seconds": trial["seconds"],
                "mrr": valid.get("mrr"),
                "hits@1": hits[0],
                "hits@3": hits[1],
                "hits@10": hits[2],
                "diverged": trial["diverged"],
            }
        )
    columns = "model rank batch_size regularizer_weight learning_rate relation_loss epochs best_epoch seconds mrr"
    result = frame(rows, [*columns.split(), "hits@1", "hits@3", "hits@10", "diverged"], "grid_search()")
    result.attrs.update(name=found["name"], interrupted=found["interrupted"])
    return result


def merge(
    models: Sequence[Model], *, weights: Sequence[float] = (), name: str, replace: bool = False
) -> Model:
    """One model whose score is the weighted sum of the scores of several of the same graph.

    >>> import relatum
    >>> graph = relatum.Graph([("a", "r", "b"), ("b", "r", "c")])
    >>> models = [relatum.train(graph, rank=2, epochs=1, seed=n, name=f"m{n}", progress=False) for n in (1, 2)]
    >>> relatum.merge(models, weights=[0.5, 0.5], name="both")
    <Model both: complex, rank 4>
    """
    models = several(models, "models")
    for model in models:
        if not isinstance(model, Model):
            raise TypeError(f"`models` must be a list of Model, and holds {type(model).__name__}")
    if not models:
        raise OptionsError("`models` must hold at least one model, and is empty")
    graph = models[0]._graph
    if any(model._graph._core.folder() != graph._core.folder() for model in models):
        raise MisuseError("models of different graphs cannot be merged: load them into one")
    arguments = {
        "models": [model.name for model in models],
        "weights": numbers(weights, "weights"),
        "name": word(name, "name"),
        "replace": switch(replace, "replace"),
    }
    merged = json.loads(graph._core.merge(dumps(arguments)))
    return Model._of(graph, merged["name"])


def _model(graph: Graph, name: str) -> Model:
    return Model._of(graph, name)


def _graph(graph: Any) -> Graph:
    if isinstance(graph, Engine):
        return graph.graph
    if not isinstance(graph, Graph):
        raise TypeError(f"expected a Graph, not {type(graph).__name__}")
    return graph


def _candidates(given: int | str | None) -> Any:
    if given is None or (isinstance(given, str) and given == "all"):
        return given
    if isinstance(given, str):
        raise OptionsError(f"`candidates` must be a number of entities or 'all', not {given!r}")
    return {"sample": count(given, "candidates")}


def _one(thing: Any, look_up: Any, what: str) -> int:
    ids, single = _ids(thing, look_up, what)
    if not single:
        raise TypeError(f"{what} must be one name or one id here, not {type(thing).__name__}")
    return int(ids[0])


def _ids(things: Any, look_up: Any, what: str) -> tuple[NDArray[np.int64], bool]:
    """Names or ids as an array of ids, and whether a single one was given."""
    if isinstance(things, str):
        return np.array([look_up(things)], dtype=np.int64), True
    if isinstance(things, bool):
        raise TypeError(f"{what} must be a name or an id, not a bool")
    if isinstance(things, (int, np.integer)):
        if not -(2**63) <= int(things) < 2**63:
            raise IndexError(f"there is no {what} of an id that large")
        return id_array([things], 1), True
    if hasattr(things, "to_numpy"):
        # A column of a frame.
        things = things.to_numpy()
    if isinstance(things, (list, tuple, np.ndarray)) and len(things) and isinstance(things[0], str):
        return np.array([look_up(str(name)) for name in things], dtype=np.int64), False
    if isinstance(things, (list, tuple, np.ndarray)):
        return id_array(things, 1), False
    raise TypeError(f"{what} must be a name, an id, or many of them, not {type(things).__name__}")

