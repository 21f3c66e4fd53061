"""Rules: a second kind of evidence, which says why an edge is likely."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _progress
from ._arguments import count, dumps, model_name, number, path as path_of, seed as seed_of, switch, word
from ._optional import frame
from .graph import Graph, PathLike

if TYPE_CHECKING:
    import pandas as pd

    from . import _relatum
    from .model import Model

_COLUMNS = ["rule", "confidence", "error", "predicted", "correct", "cluster", "examples", "against"]


class Rules:
    """The rules of a project: ``engine.rules``. Once they are mined, :meth:`Engine.ask` uses them beside the model.

    >>> import relatum
    >>> engine = relatum.films().engine
    >>> made = engine.rules.mine(max_length=1)
    >>> engine.rules.names
    ['default']
    >>> list(engine.rules.show("has_genre", top=2)["predicted"] > 0)
    [True, True]
    """

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def _core(self) -> _relatum.Engine:
        return self._graph._core

    def mine(
        self,
        *,
        name: str | None = None,
        seconds: float | None = None,
        paths: int | None = None,
        seed: int | None = None,
        max_length: int | None = None,
        max_memory: int | None = None,
        resume: bool = False,
        restart: bool = False,
        model: str | Model | None = None,
        progress: _progress.Progress = False,
    ) -> dict[str, Any]:
        """Mines rules in both directions of every relation, learns which of them say the same thing, and, where the
        project has a model, how much they count beside it. Rules of three atoms are drawn for so many ``seconds`` or
        ``paths``; ``max_memory`` is in megabytes. Ctrl-C keeps what was found; ``resume=True`` goes on as it was begun.
        The seed is 0 and bodies have up to three atoms where nothing else is said."""
        given = dict(
            name=word(name, "name"),
            seconds=number(seconds, "seconds"),
            paths=count(paths, "paths"),
            seed=seed_of(seed),
            max_length=count(max_length, "max_length"),
            max_memory=count(max_memory, "max_memory"),
            resume=switch(resume, "resume"),
            restart=switch(restart, "restart"),
        )
        chosen = model_name(model)
        told = _progress.listener(progress, _progress.plain)
        made: dict[str, Any] = json.loads(self._core.mine_rules(dumps(given), told))
        if chosen is not None or json.loads(self._core.models())["models"]:
            self._core.weigh_rules(chosen, name, told)
        return made

    def weigh(self, *, model: str | Model | None = None, name: str | None = None, progress: _progress.Progress = False) -> bool:
        """Learns how much rules count beside a model, on validation edges; ``False`` where there are none."""
        told = _progress.listener(progress, _progress.plain)
        return self._core.weigh_rules(model_name(model), word(name, "name"), told)

    def show(
        self, relation: str, *, about: str | None = None, top: int | None = None, name: str | None = None
    ) -> pd.DataFrame:
        """The rules that predict a relation, the most confident first, with examples for and against, as a frame;
        ``about`` keeps those that speak of an entity. ``attrs["found"]`` says how many there are."""
        if relation is None:
            raise TypeError("`relation` must be a str, not None")
        given = {
            "rules": word(name, "name"),
            "relation": word(relation, "relation"),
            "about": word(about, "about"),
            "top": count(top, "top"),
        }
        found = json.loads(self._core.show_rules(dumps(given)))
        result = frame(found["rules"], _COLUMNS, "rules.show()")
        result.attrs["found"] = found["found"]
        return result

    def read(self, path: PathLike, *, name: str | None = None, replace: bool = False) -> dict[str, Any]:
        """Reads rules from lines of predicted, correct, confidence and rule, as AnyBURL writes them."""
        made: dict[str, Any] = json.loads(self._core.import_rules(path_of(path, "path"), word(name, "name"), replace))
        return made

    def write(self, path: PathLike, *, name: str | None = None) -> int:
        """Writes rules in that form, and says how many there were."""
        return self._core.export_rules(path_of(path, "path"), word(name, "name"))

    @property
    def names(self) -> list[str]:
        """The names of the rules that the project has."""
        return self._core.rule_names()

    def __repr__(self) -> str:
        return f"<Rules: {', '.join(self.names) or 'none yet'}>"
