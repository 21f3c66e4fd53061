"""Rules: a second kind of evidence, which says why an edge is likely."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _progress
from ._optional import frame
from .graph import PathLike

if TYPE_CHECKING:
    import pandas as pd

    from . import _relatum

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

    __slots__ = ("_core",)

    def __init__(self, core: _relatum.Engine) -> None:
        self._core = core

    def mine(
        self,
        *,
        name: str | None = None,
        seconds: float | None = None,
        paths: int | None = None,
        seed: int = 0,
        max_length: int = 3,
        max_memory: int | None = None,
        resume: bool = False,
        restart: bool = False,
        model: str | None = None,
        progress: _progress.Progress = False,
    ) -> dict[str, Any]:
        """Mines rules in both directions of every relation, learns which of them say the same thing, and, where the
        project has a model, how much they count beside it. Rules of three atoms are drawn for so many ``seconds`` or
        ``paths``; ``max_memory`` is in megabytes. Ctrl-C keeps what was found; ``resume=True`` goes on."""
        given = dict(
            name=name,
            seconds=seconds,
            paths=paths,
            seed=seed,
            max_length=max_length,
            max_memory=max_memory,
            resume=resume,
            restart=restart,
        )
        told = _progress.listener(progress, _progress.plain)
        made: dict[str, Any] = json.loads(self._core.mine_rules(json.dumps(given), told))
        if model is not None or json.loads(self._core.models())["models"]:
            self._core.weigh_rules(model, name, told)
        return made

    def weigh(self, *, model: str | None = None, name: str | None = None, progress: _progress.Progress = False) -> bool:
        """Learns how much rules count beside a model, on validation edges; ``False`` where there are none."""
        return self._core.weigh_rules(model, name, _progress.listener(progress, _progress.plain))

    def show(
        self, relation: str, *, about: str | None = None, top: int | None = None, name: str | None = None
    ) -> pd.DataFrame:
        """The rules that predict a relation, the most confident first, with examples for and against, as a frame;
        ``about`` keeps those that speak of an entity. ``attrs["found"]`` says how many there are."""
        given = {"rules": name, "relation": relation, "about": about, "top": top}
        found = json.loads(self._core.show_rules(json.dumps(given)))
        result = frame(found["rules"], _COLUMNS, "rules.show()")
        result.attrs["found"] = found["found"]
        return result

    def read(self, path: PathLike, *, name: str | None = None, replace: bool = False) -> dict[str, Any]:
        """Reads rules from lines of predicted, correct, confidence and rule, as AnyBURL writes them."""
        made: dict[str, Any] = json.loads(self._core.import_rules(os.fspath(path), name, replace))
        return made

    def write(self, path: PathLike, *, name: str | None = None) -> int:
        """Writes rules in that form, and says how many there were."""
        return self._core.export_rules(os.fspath(path), name)

    @property
    def names(self) -> list[str]:
        """The names of the rules that the project has."""
        return self._core.rule_names()

    def __repr__(self) -> str:
        return f"<Rules: {', '.join(self.names) or 'none yet'}>"
