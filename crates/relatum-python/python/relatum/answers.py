"""Answers with reasons, as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from . import _display, _relatum
from ._optional import frame, need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Alternative", "Answer", "Answers", "Atom", "Certainty", "Entity", "Explanation", "Settings", "SubQuery"]


@dataclass(frozen=True)
class Entity:
    """An entity, or a relation, with its names."""

    #: Its number in the graph.
    id: int
    #: Its name in the source of the graph.
    name: str
    #: The shortest text that a person can read and a question can hold.
    text: str
    #: Its display label, if it has one.
    label: str | None = None

    def __str__(self) -> str:
        return self.label or self.text


@dataclass(frozen=True)
class Certainty:
    """How sure answers are: ``exact`` (proven, ``within`` an error), ``beam`` (the best that a beam of ``k`` found),
    ``continuous`` (where the vectors converged), ``stopped`` (the best before a limit was reached)."""

    kind: str
    within: float | None = None
    k: int | None = None
    settled: bool | None = None
    steps: int | None = None
    at_rest: bool | None = None
    by: str | None = None

    def __str__(self) -> str:
        return {
            "exact": "proven exact",
            "beam": f"the best of a beam of {self.k}",
            "continuous": f"continuous optimisation, {self.steps} steps",
            "stopped": f"stopped by {self.by}",
        }.get(self.kind, self.kind)


@dataclass(frozen=True)
class Settings:
    """The settings that ran: everything that a score depends on besides the parameters of the model."""

    model: str
    t_norm: str
    calibration: str
    sharpness: float
    negation_scale: float
    unseen: float
    known: str
    union: str
    k: int | None = None
    paper: bool = False
    either_side: bool = False
    #: What spoke beside the model: ``both``, or ``rules`` where those spoke alone.
    evidence: str | None = None
    tuned_for: str | None = None


@dataclass(frozen=True)
class Atom:
    """An atom with its variables replaced by their values."""

    relation: Entity
    subject: Entity
    object: Entity
    #: Whether the atom is negated in the question.
    negated: bool
    #: How true the edge is.
    truth: float
    #: What enters the score: the truth, or its negation.
    value: float
    #: From which side the model scored it: ``subject`` or ``object``.
    scored_from: str
    #: The split of the trusted graph that holds the edge: then its truth is exactly 1.
    known: str | None
    #: The split that holds the edge, trusted or not; ``None`` for a prediction.
    stored: str | None
    subject_variable: str | None = None
    object_variable: str | None = None
    #: What speaks for a predicted edge, as the JSON of the reply has it.
    why: Mapping[str, Any] | None = field(default=None, hash=False)

    def __str__(self) -> str:
        word = "not " if self.negated else ""
        return f"{word}{self.relation}({self.subject}, {self.object})"

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks for a predicted edge, a line each: how much comes from rules and how much from the model, then the
        rules with their counts and the stored edges that make them true; or the most similar entities."""
        return tuple(_reasons(self.why)) if self.why else ()


@dataclass(frozen=True)
class SubQuery:
    """A negated sub-query under the assignment of the question around it."""

    text: str
    shares: tuple[str, ...]
    own: tuple[str, ...]
    truth: float
    value: float
    #: The values that make it truest, as in the JSON of the reply.
    witness: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True)
class Alternative:
    """Another assignment for the same answer."""

    assignment: Mapping[str, Entity] = field(hash=False)
    score: float


@dataclass(frozen=True)
class Explanation:
    """The assignment that makes an entity an answer. Folding the values of its atoms and sub-queries with the t-norm
    gives ``score``; joining ``branch_scores`` with the t-conorm gives the score of the answer."""

    #: The value of every variable.
    assignment: Mapping[str, Entity] = field(hash=False)
    atoms: tuple[Atom, ...]
    score: float
    #: The alternative of the question that carries the answer, from 0.
    branch: int
    branch_scores: tuple[float, ...]
    branches_open: tuple[bool, ...]
    sub_queries: tuple[SubQuery, ...]
    #: The next best assignments for the same answer.
    alternatives: tuple[Alternative, ...]
    #: Whether those are proven to be the next best.
    alternatives_certain: bool

    def __str__(self) -> str:
        lines = []
        for atom in self.atoms:
            lines.append(f"{atom}  {atom.value:.4f}  {_known(atom)}")
            lines += [f"    {reason}" for reason in atom.reasons]
        lines += [f"not ({sub.text})  {sub.value:.4f}" for sub in self.sub_queries]
        return "\n".join(lines)

    def to_svg(self) -> str:
        """The assignment as a picture: a graph in SVG without script, which GitHub shows too."""
        return _display.explanation_svg(self)

    # Only as a picture: where a page cleans HTML, as GitHub does, SVG within it would be lost.
    def _repr_svg_(self) -> str:
        return self.to_svg()


def _reasons(why: Mapping[str, Any]) -> list[str]:
    names = [str(Entity(**entity)) for entity in why.get("similar", [])]
    like = f", as with {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}" if names else ""
    if not why.get("rules_asked", True):
        return [f"by similarity{like}"] if like else []
    found = why.get("reasons", [])
    by = [f"by rules {why['rules']:.4f}"] if why["rules"] > 0 else []
    by += [f"by similarity {why['predictor']:.4f}{like}"] if why["predictor"] > 0 else []
    first = [", ".join(by)] if by else []
    if why["rules"] <= 0:
        first.append(
            "rules speak for it, but count nothing for this relation" if found else "no rule speaks for it"
        )
    lines = ["; ".join(first)]
    for reason in found:
        about = "about " if reason.get("error") else ""
        edges = [
            f"{Entity(**edge['relation'])}({Entity(**edge['subject'])}, {Entity(**edge['object'])})"
            for edge in reason["because"]
        ]
        because = f", because {' and '.join(edges)}" if edges else ""
        count = f"{about}{reason['correct']:,} of {reason['predicted']:,}"
        lines.append(f"{reason['rule']}  {reason['confidence']:.4f}, right for {count}{because}")
    more = why.get("more", 0)
    return [*lines, f"and {more:,} other rule{'s' if more > 1 else ''}"] if more else lines


def _known(atom: Atom) -> str:
    return f"known, {atom.known}" if atom.known else ("stored, not trusted" if atom.stored else "predicted")


@dataclass(frozen=True)
class Answer:
    """One answer: an entity, or a relation where relations were sought."""

    #: Its name in the source of the graph.
    entity: str
    score: float
    #: Whether stored edges alone make it an answer; ``None`` if the time was up before that was clear.
    known: bool | None
    label: str | None = None
    id: int = 0
    #: The shortest text that a person can read and a question can hold.
    text: str = ""
    #: In how many ways stored edges alone make it an answer, where that was counted.
    ways: int | None = None
    #: Why it is an answer, if that was asked for.
    explanation: Explanation | None = field(default=None, repr=False, hash=False)

    def __str__(self) -> str:
        return f"{self.label or self.text}  {self.score:.4f}"

    def _repr_html_(self) -> str:
        return _display.answer_html(self)


class Answers(Sequence[Answer]):
    """The answers to a question, best first, with all that is needed to judge and reproduce them.

    It is a sequence of :class:`Answer`; in a notebook it shows as a table with score bars. For a statement
    (a formula without target), :attr:`truth` says how true it is, and there are no answers.

    >>> import relatum
    >>> graph = relatum.Graph([("Alien", "stars", "Weaver"), ("Avatar", "stars", "Weaver")])
    >>> model = relatum.train(graph, rank=4, epochs=2, progress=False)
    >>> answers = graph.engine.ask("?F : stars(F, Weaver)", top=2)
    >>> len(answers), [answer.entity for answer in answers], str(answers.certainty)
    (2, ['Alien', 'Avatar'], 'proven exact')
    >>> answers.to_pandas()[["entity", "score", "known"]].values.tolist()
    [['Alien', 1.0, True], ['Avatar', 1.0, True]]
    >>> Answers.from_json(answers.to_json()) == answers
    True
    """

    __slots__ = ("_items", "_made", "_reply")

    def __init__(self, reply: _relatum.Reply) -> None:
        self._reply = reply
        self._made: dict[str, Any] | None = None
        self._items: tuple[Answer, ...] | None = None

    @classmethod
    def from_json(cls, text: str) -> Answers:
        """Reads the output of :meth:`to_json` or ``relatum ask --json``."""
        return cls(_relatum.Reply.from_json(text))

    @property
    def _data(self) -> dict[str, Any]:
        if self._made is None:
            self._made = json.loads(self._reply.compact())
        return self._made

    @property
    def _answers(self) -> tuple[Answer, ...]:
        if self._items is None:
            of = self._data.get("relations", []) if self.asked == "relations" else self._data["answers"]
            self._items = tuple(_answer(item) for item in of)
        return self._items

    def __len__(self) -> int:
        return len(self._reply)

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Answer]: ...
    def __getitem__(self, index: int | slice) -> Answer | Sequence[Answer]:
        return self._answers[index]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    @property
    def query(self) -> str:
        """The question as it was asked."""
        return str(self._data["query"])

    @property
    def question(self) -> str:
        """The question as it was understood, in the text syntax."""
        return str(self._data["question"])

    @property
    def asked(self) -> str:
        """What the question asks for: ``entities``, ``relations`` or ``truth``."""
        return str(self._data["asked"])

    @property
    def target(self) -> str | None:
        """The variable whose values are the answers."""
        return self._data.get("target")

    @property
    def shape(self) -> str:
        """The shape of the literature, such as ``2p``, or ``general``."""
        return str(self._data["shape"])

    @property
    def method(self) -> str:
        """The search that found the answers: ``exact``, ``beam`` or ``continuous``."""
        return str(self._data["method"])

    @property
    def settings(self) -> Settings:
        """Everything that a score depends on besides the parameters of the model."""
        return Settings(**self._data["settings"])

    @property
    def certainty(self) -> Certainty:
        """How sure the answers are."""
        return Certainty(**self._data["certainty"])

    @property
    def rows(self) -> int:
        """Rows scored to find them."""
        return int(self._data["rows"])

    @property
    def remarks(self) -> list[str]:
        """What people should know about how the answers came about."""
        return list(self._data.get("remarks", []))

    @property
    def unfinished_model(self) -> str | None:
        """How far the training of the model had come, where it is not finished."""
        return self._data.get("unfinished_model")

    @property
    def truth(self) -> float | None:
        """How true the statement is, if the question is one."""
        judged = self._data.get("judged")
        return None if judged is None else float(judged["truth"])

    def to_json(self) -> str:
        """The JSON that ``relatum ask --json`` prints for the same question: ``print`` of it gives the same bytes."""
        return self._reply.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary."""
        data: dict[str, Any] = json.loads(self._reply.compact())
        return data

    def to_dot(self) -> str:
        """The explained answers as a graph for Graphviz."""
        return self._reply.to_dot()

    def _rows(self) -> list[dict[str, Any]]:
        columns = ("entity", "label", "score", "known", "ways")
        return [{name: getattr(answer, name) for name in columns} for answer in self]

    def to_pandas(self) -> pd.DataFrame:
        """The answers as a pandas frame."""
        return frame(self._rows(), ["entity", "label", "score", "known", "ways"], "to_pandas()")

    def to_polars(self) -> pl.DataFrame:
        """The answers as a polars frame."""
        polars = need("polars", "to_polars()")
        schema = {
            "entity": polars.String,
            "label": polars.String,
            "score": polars.Float64,
            "known": polars.Boolean,
            "ways": polars.Int64,
        }
        result: pl.DataFrame = polars.DataFrame(self._rows(), schema=schema)
        return result

    def __str__(self) -> str:
        return self._reply.text()

    def __repr__(self) -> str:
        return f"<Answers: {len(self)} to {self.question!r}, {self.certainty}>"

    def _repr_html_(self) -> str:
        return _display.answers_html(self)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Answers.from_json, (self._reply.compact(),))


def _answer(data: dict[str, Any]) -> Answer:
    explanation = data.get("explanation")
    known = data["known"]
    ways = data.get("ways")
    return Answer(
        entity=data["name"],
        score=data["score"],
        # For a relation, `known` is the split that holds the edge.
        known=known if known is None or isinstance(known, bool) else True,
        label=data.get("label"),
        id=data["id"],
        text=data["text"],
        ways=None if ways is None else ways["count"],
        explanation=None if explanation is None else _explanation(explanation),
    )


def _assignment(bindings: list[dict[str, Any]]) -> dict[str, Entity]:
    return {binding["variable"]: Entity(**binding["value"]) for binding in bindings}


def _atom(data: dict[str, Any]) -> Atom:
    things = {name: Entity(**data[name]) for name in ("relation", "subject", "object")}
    return Atom(**{**data, **things})


def _explanation(data: dict[str, Any]) -> Explanation:
    def sub_query(sub: dict[str, Any]) -> SubQuery:
        return SubQuery(**{**sub, "shares": tuple(sub["shares"]), "own": tuple(sub["own"])})

    return Explanation(
        assignment=_assignment(data["assignment"]),
        atoms=tuple(_atom(atom) for atom in data["atoms"]),
        score=data["score"],
        branch=data["branch"],
        branch_scores=tuple(data["branch_scores"]),
        branches_open=tuple(data["branches_open"]),
        sub_queries=tuple(sub_query(sub) for sub in data.get("sub_queries", [])),
        alternatives=tuple(
            Alternative(_assignment(other["assignment"]), other["score"]) for other in data.get("alternatives", [])
        ),
        alternatives_certain=data["alternatives_certain"],
    )
