"""Questions to a graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from . import _progress, _relatum
from ._arguments import count as count_of, model_name, number, path as path_of, seed as seed_of, switch, word, words
from ._optional import frame
from .answers import Answers
from .errors import OptionsError
from .graph import Graph, PathLike
from .query import Formula, Variable
from .rules import Rules

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from .measuring import Benchmark
    from .model import Model

__all__ = ["Engine", "Options", "Plan", "open"]


class Options(TypedDict, total=False):
    """How a question is answered; see :class:`Engine`."""

    top: int | None
    explain: bool
    new_only: bool
    model: str | Model | None
    method: Literal["auto", "exact", "beam", "continuous", "lists"]
    k: int | None
    paper: bool
    known: Literal["all", "train+valid", "train", "none"] | None
    t_norm: Literal["product", "godel", "lukasiewicz"] | None
    calibration: Literal["softmax-count", "softmax", "sigmoid", "minmax", "adaptive", "fitted", "raw"] | None
    sharpness: float | None
    negation_scale: float | None
    unseen: float | None
    evidence: Literal["model", "rules", "both"] | None
    rules: str | None
    union: Literal["at-the-end", "in-place"] | None
    either_side: bool
    syntax: Literal["text", "sparql", "tuple"] | None
    max_branches: int | None
    max_rows: int | None
    timeout: float | None


_OPTIONS = frozenset(Options.__annotations__)


def open(folder: PathLike) -> Engine:  # noqa: A001
    """Opens a project folder: one that ``relatum init`` made, or :meth:`Graph.save`.

    This takes the same time for every size of the graph; models are opened when they are needed.
    """
    return Engine._of(Graph._of(_relatum.Engine.open(path_of(folder, "folder")), None))


class Plan:
    """How a question would be answered."""

    __slots__ = ("_dot", "_json", "_text")

    def __init__(self, text: str, data: str, dot: str) -> None:
        self._text, self._json, self._dot = text, data, dot

    def to_dict(self) -> dict[str, Any]:
        """The plan as data."""
        data: dict[str, Any] = json.loads(self._json)
        return data

    def to_dot(self) -> str:
        """The plan for Graphviz."""
        return self._dot

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


class Engine:
    """A project that answers questions: a graph with its models. ``relatum.open(folder)`` or ``graph.engine``.

    It can be used from any number of threads at once; the interpreter is released while it works.

    How a question is answered is chosen by keyword arguments of :meth:`ask`; an omitted one is as tuned for the type
    of question and the model or, if nothing was tuned, a default:

    ======================  ========================================================================================
    ``top``                 how many answers (10)
    ``explain``             whether each answer is explained
    ``new_only``            leave out answers that stored edges alone give
    ``model``               the name of the model, or a :class:`Model`
    ``method``              ``"auto"``, ``"exact"``, ``"beam"``, ``"continuous"`` or ``"lists"``
    ``k``                   how many assignments a beam keeps (64)
    ``paper``               let each assignment keep k values by the truth of the atoms alone, as the paper does
    ``known``               which stored edges count as true: ``"all"``, ``"train+valid"``, ``"train"``, ``"none"``
    ``t_norm``              how truth values combine: ``"product"``, ``"godel"``, ``"lukasiewicz"``
    ``calibration``         how scores become truth values: ``"softmax-count"``, ``"fitted"``, ``"sigmoid"``, …
    ``sharpness``           the factor of scores before a softmax
    ``negation_scale``      c of the negation ``1 - min(1, c·x)``
    ``unseen``              the factor, from 0 to 1, of predictions that lead to an entity of a wrong kind
    ``evidence``            what speaks for an edge that is not stored: ``"model"``, ``"rules"`` or ``"both"``
    ``rules``               the name of the rules
    ``union``               where alternatives are joined: ``"at-the-end"`` or ``"in-place"``
    ``either_side``         score an atom from whichever side takes fewer rows
    ``syntax``              ``"text"``, ``"sparql"`` or ``"tuple"``, if it cannot be recognised by its beginning
    ``max_branches``        how many alternatives the normal form may have (64)
    ``max_rows``            stop after so many rows scored, with the best so far
    ``timeout``             the same after so many seconds
    ======================  ========================================================================================
    """

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"an engine needs a Graph, not a {type(graph).__name__}; from a folder: relatum.open")
        self._graph = graph

    @classmethod
    def _of(cls, graph: Graph) -> Engine:
        return cls(graph)

    @property
    def _core(self) -> _relatum.Engine:
        return self._graph._core

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def folder(self) -> Path | None:
        """The project folder; ``None`` if the graph was not saved."""
        return self._graph.folder

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
        self,
        question: list[Any],
        *,
        target: Variable | str | None = None,
        **options: Unpack[Options],
    ) -> list[Answers]: ...
    def ask(
        self, question: Any, *, target: Variable | str | None = None, **options: Unpack[Options]
    ) -> Answers | list[Answers]:
        """Answers a question: text, SPARQL, a nested tuple, or a formula of ``rel`` with its ``target``.

        >>> import relatum
        >>> graph = relatum.Graph([("Alien", "stars", "Weaver"), ("Alien", "genre", "Horror")])
        >>> model = relatum.train(graph, rank=4, epochs=2, progress=False)
        >>> answers = graph.engine.ask("?G : exists F. stars(F, Weaver) and genre(F, G)", top=1, explain=True)
        >>> answers[0].entity, answers[0].score, answers[0].known
        ('Horror', 1.0, True)
        >>> [str(atom) for atom in answers[0].explanation.atoms]
        ['stars(Alien, Weaver)', 'genre(Alien, Horror)']

        A list of questions is answered side by side; if some cannot be answered, the first raises an exception.
        For the options, see :class:`Engine`.
        """
        arguments = _arguments(options)
        if isinstance(question, list):
            texts = [_text(each, target) for each in question]
            replies = self._core.ask_many(texts, arguments)
            for index, reply in enumerate(replies):
                if isinstance(reply, BaseException):
                    _note(reply, f"this is question {index} of {len(texts)}")
                    raise reply
            return [Answers(reply) for reply in replies if isinstance(reply, _relatum.Reply)]
        plain = type(question) is str and target is None
        return Answers(self._core.ask(question if plain else _text(question, target), arguments))

    def explain(
        self, question: Any, entity: str, *, target: Variable | str | None = None, **options: Unpack[Options]
    ) -> Answers:
        """Explains one entity as an answer: how true it is that it is one, and why. The result has only that answer, or
        none if the entity is not an answer.

        >>> import relatum
        >>> graph = relatum.Graph([("Alien", "stars", "Weaver"), ("Alien", "genre", "Horror")])
        >>> model = relatum.train(graph, rank=4, epochs=2, progress=False)
        >>> print(graph.engine.explain("?F : stars(F, Weaver)", "Alien")[0].explanation)
        stars(Alien, Weaver)  1.0000  known, train
        """
        if not isinstance(entity, str):
            raise TypeError(f"`entity` must be a name (str), not {type(entity).__name__}")
        return Answers(self._core.explain(_text(question, target), entity, _arguments(options)))

    def check(
        self,
        question: Any,
        *,
        target: Variable | str | None = None,
        strict: bool = False,
        **options: Unpack[Options],
    ) -> dict[str, Any]:
        """What is wrong with a question, how it is understood and how it would be answered; nothing is searched.
        Mistakes are part of the result, or are raised if ``strict``.

        >>> import relatum
        >>> graph = relatum.Graph([("Alien", "stars", "Weaver")])
        >>> checked = graph.engine.check("?F : stars(F, Weever)")
        >>> checked["answerable"], checked["diagnostics"][0]["message"]
        (False, "there is no entity 'Weever'")
        """
        text = _text(question, target)
        arguments = _arguments(options)
        checked: dict[str, Any] = json.loads(self._core.check(text, arguments))
        if strict and not checked["answerable"]:
            # The same mistakes as an exception: planning reads the question in the same way.
            self._core.plan(text, arguments)
        return checked

    def plan(self, question: Any, *, target: Variable | str | None = None, **options: Unpack[Options]) -> Plan:
        """How a question would be answered: ``str()`` is a tree, ``to_dict()`` data, ``to_dot()`` for Graphviz.

        >>> import relatum
        >>> graph = relatum.Graph([("Alien", "stars", "Weaver")])
        >>> plan = graph.engine.plan("?F : stars(F, Weaver)")
        >>> len(plan.to_dict()["branches"]), plan.to_dot().startswith("digraph")
        (1, True)
        """
        return Plan(*self._core.plan(_text(question, target), _arguments(options)))

    def complete(self, text: str) -> list[dict[str, str]]:
        """What could be written at the end of an unfinished question.

        >>> import relatum
        >>> graph = relatum.Graph([("Alien", "stars", "Weaver")])
        >>> [each["replacement"] for each in graph.engine.complete("?F : sta")]
        ['stars(']
        """
        found: list[dict[str, str]] = json.loads(self._core.complete(text))["candidates"]
        return found

    def predict(
        self,
        *,
        relation: str | None = None,
        about: str | None = None,
        min_truth: float = 0.0,
        **options: Unpack[Options],
    ) -> pd.DataFrame:
        """The most likely edges that the graph does not hold, best first, as a frame.

        >>> import relatum
        >>> graph = relatum.films()
        >>> model = relatum.train(graph, rank=8, epochs=2, progress=False)
        >>> list(graph.engine.predict(relation="has_genre", top=3).columns)
        ['head', 'relation', 'tail', 'truth']

        :param relation: edges of this relation only
        :param about: edges of this entity only
        :param min_truth: edges at least this true
        :param options: those of :meth:`ask` that say how an edge is scored, such as ``top``, ``model`` and ``timeout``
        """
        least = number(min_truth, "min_truth")
        chosen = word(relation, "relation"), word(about, "about")
        edges, found = self._core.predict(*chosen, 0.0 if least is None else least, _arguments(options))
        rows = [
            {
                "head": edge["subject"]["name"],
                "relation": edge["relation"]["name"],
                "tail": edge["object"]["name"],
                "truth": edge["truth"],
            }
            for edge in json.loads(edges)
        ]
        result = frame(rows, ["head", "relation", "tail", "truth"], "predict()")
        result.attrs["certainty"] = json.loads(found)
        return result

    @property
    def rules(self) -> Rules:
        """The rules of the project: to mine them, to look at them, to read and to write them."""
        return Rules(self._graph)

    @property
    def models(self) -> pd.DataFrame:
        """The models of the project as a frame: predictor, rank, metrics, finished or not, tuned, size, age."""
        rows = json.loads(self._core.models())["models"]
        for row in rows:
            valid = row.pop("valid") or {}
            row["valid_mrr"] = valid.get("mrr")
        columns = ["name", "predictor", "rank", "origin", "epoch", "valid_mrr", "unfinished", "fitted", "calibrated"]
        return frame(rows, [*columns, "tuned_types", "bytes", "age_seconds", "error"], "models")

    @property
    def default_model(self) -> str:
        """The name of the default model."""
        return str(json.loads(self._core.models())["default"])

    def model(self, name: str | None = None) -> Model:
        """A model by its name, or the default one."""
        from .model import Model

        return Model._of(self._graph, name)

    def choose_default(self, name: str) -> None:
        """Makes a model the default one."""
        self._core.choose_default(name)

    def delete(self, name: str) -> None:
        """Deletes a model, with its checkpoint, its curve and its results."""
        self._core.delete_model(name)

    def reload(self) -> None:
        """Opens the models and rules anew that another process trained, replaced or deleted in the meantime; without
        this, an engine keeps those that it has opened."""
        self._core.reload()

    def sample(
        self,
        types: Sequence[str] = (),
        *,
        questions: Sequence[str] = (),
        count: int | None = None,
        split: str | None = None,
        seed: int = 0,
        max_answers: int | None = None,
        all_missing: bool = False,
        attempts: int | None = None,
        existing: str = "refuse",
        betae: PathLike | None = None,
        examples: int = 0,
        progress: _progress.Progress = False,
    ) -> pd.DataFrame:
        """Samples benchmark queries with hard answers from the held-out edges, stores them in the project, and returns
        a frame of what was found by type and split. If ``examples`` are wanted, they are in its last column. With
        ``all_missing`` a hard answer needs every hop predicted: none of its proofs has a training edge, and answers
        that need only some hops predicted count as easy; for types without negation and union."""
        from .measuring import sample

        options = dict(
            types=words(types, "types"),
            questions=words(questions, "questions"),
            count=count_of(count, "count"),
            split=word(split, "split"),
            seed=seed_of(seed),
            max_answers=count_of(max_answers, "max_answers"),
            all_missing=switch(all_missing, "all_missing"),
            attempts=count_of(attempts, "attempts"),
            existing=word(existing, "existing"),
            betae=None if betae is None else word(path_of(betae, "betae"), "betae"),
            examples=count_of(examples, "examples"),
        )
        return sample(self, options, progress)

    def tune(
        self,
        *,
        model: str | Model | None = None,
        family: str = "best",
        types: Sequence[str] = (),
        queries: int | None = None,
        again: bool = False,
        progress: _progress.Progress = False,
    ) -> pd.DataFrame:
        """Chooses how to answer each type of query, on validation queries only; :meth:`ask` uses the choice.
        The frame has every setting that was tried, with the chosen one marked, on how many queries it was tried, the
        standard error of its Hits@3, and by how much the chosen one is ahead of the next. Without ``queries`` settings
        are tried on 100 each, and those that are not told apart on up to 1600."""
        from .measuring import tune

        options = dict(
            model=model_name(model),
            family=word(family, "family"),
            types=words(types, "types"),
            queries=count_of(queries, "queries"),
            again=switch(again, "again"),
        )
        return tune(self, options, progress)

    def benchmark(
        self,
        *,
        model: str | Model | None = None,
        families: Sequence[str] = (),
        settings: Sequence[str] = (),
        baselines: Sequence[str] = (),
        split: str | None = None,
        types: Sequence[str] = (),
        limit: int | None = None,
        tune_on: int | None = None,
        by_missing_links: bool = False,
        progress: _progress.Progress = False,
    ) -> Benchmark:
        """Ranks every hard answer of the benchmark queries among all entities except the other answers: methods by
        types of query, beside the published figures. The result has frames and figures. ``baselines`` names GQE and
        Query2Box models of the project, which ``relatum train --baseline`` makes."""
        from .measuring import benchmark

        options = dict(
            model=model_name(model),
            families=words(families, "families"),
            settings=words(settings, "settings"),
            baselines=words(baselines, "baselines"),
            split=word(split, "split"),
            types=words(types, "types"),
            limit=count_of(limit, "limit"),
            tune_on=count_of(tune_on, "tune_on"),
            by_missing_links=switch(by_missing_links, "by_missing_links"),
        )
        return benchmark(self, options, progress)

    def __repr__(self) -> str:
        where = self.folder or "in memory"
        return f"<Engine: {self._graph!r}, {where}>"


def _arguments(given: Options) -> dict[str, Any] | None:
    if not given:
        return None
    options: dict[str, Any] = dict(given)
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"there is no option {name!r}; there are: {', '.join(sorted(_OPTIONS))}")
    model = options.get("model")
    if model is not None:
        options["model"] = model_name(model)
    return options


def _text(question: Any, target: Variable | str | None) -> str:
    """A question in the text that the engine reads."""
    if isinstance(question, Formula):
        try:
            return question.statement() if target is None and not list(question._free()) else _asked(question, target)
        except RecursionError:
            raise OptionsError("the formula is nested too deeply: 128 levels are read") from None
    if target is not None:
        raise TypeError("`target` belongs to a formula made of rel; a text names its own")
    if isinstance(question, str):
        return question
    if isinstance(question, (tuple, list)):
        return _tuple(question)
    raise TypeError(f"a question is a str, a formula or a tuple, or a list of those, not {type(question).__name__}")


def _tuple(question: Any) -> str:
    try:
        return json.dumps(question, allow_nan=False)
    except (TypeError, ValueError) as error:
        # What JSON cannot hold is no name, and says so in JSON's own words.
        raise TypeError(f"a tuple holds names (str) and tuples of them: {error}") from None
    except RecursionError:
        raise OptionsError("the tuple is nested too deeply: 128 levels are read") from None


def _asked(question: Formula, target: Variable | str | None) -> str:
    if target is None:
        raise TypeError("a formula with variables needs its target, as in ask(q, target=D)")
    return question.ask_for(target)


def _note(error: BaseException, note: str) -> None:
    # Python 3.10 has no notes.
    add = getattr(error, "add_note", None)
    if add is not None:
        add(note)


