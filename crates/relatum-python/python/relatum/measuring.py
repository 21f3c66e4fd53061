"""Benchmarks: queries with known answers, tuned for and measured, as frames and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _progress, _relatum
from ._arguments import dumps, path as path_of
from ._optional import frame
from .errors import MisuseError, OptionsError
from .graph import PathLike

if TYPE_CHECKING:
    import pandas as pd

    from .engine import Engine

__all__ = ["Benchmark", "Figure"]

_FIGURES = ["count", "mrr", "hits@1", "hits@3", "hits@10"]


class Figure:
    """A picture, as SVG without script: it shows in a notebook and can be saved."""

    __slots__ = ("svg",)

    def __init__(self, svg: str) -> None:
        #: The picture.
        self.svg = svg

    def save(self, path: PathLike) -> None:
        """Writes the picture to a file ``.svg``."""
        file = Path(path_of(path, "path"))
        if file.suffix != ".svg":
            raise OptionsError(f"a figure is an SVG picture: give a name that ends with .svg, not {file}")
        file.write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure: {len(self.svg):,} characters of SVG>"


class Benchmark:
    """The results of a benchmark: methods by types of query."""

    __slots__ = ("_engine", "_json", "_options", "report")

    def __init__(self, engine: Engine | None, options: dict[str, Any], report: str) -> None:
        self._engine = engine
        self._options = options
        self._json = report
        #: Everything that was found, as ``relatum benchmark --json`` has it.
        self.report: dict[str, Any] = json.loads(report)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each method and type of query."""
        rows = [
            {
                "method": row["method"],
                "type": cell["type"],
                **cell["metrics"],
                "seconds": cell["seconds"],
                "known": cell["known"],
            }
            for row in self.report["rows"]
            for cell in row["types"]
        ]
        return frame(rows, ["method", "type", *_FIGURES, "seconds", "known"], "to_pandas()")

    def table(self, figure: str = "hits@3") -> pd.DataFrame:
        """Methods by types of query, with the mean of the types; below them, what others published."""
        if figure not in _FIGURES:
            raise OptionsError(f"`figure` must be one of {', '.join(_FIGURES)}, not {figure!r}")
        rows = [
            {
                "method": row["method"],
                "mean": row["mean"][figure],
                **{cell["type"]: cell["metrics"][figure] for cell in row["types"]},
            }
            for row in self.report["rows"]
        ]
        if figure == "hits@3":
            rows += [
                {"method": f"{row['system']} (published)", "mean": row["mean"], **row["hits@3"]}
                for row in self.report["published"]
            ]
        return frame(rows, ["method", "mean", *self.report["types"]], "table()").set_index("method")

    def by_missing_links(self) -> pd.DataFrame:
        """The figures by how many links of a hard answer the training graph lacks, if that was asked for."""
        rows = [
            {
                "method": row["method"],
                "type": cell["type"],
                "links": part["links"],
                "pairs": part["pairs"],
                **part["metrics"],
            }
            for row in self.report["rows"]
            for cell in row["types"]
            for part in cell["by_missing_links"]
        ]
        return frame(rows, ["method", "type", "links", "pairs", *_FIGURES], "by_missing_links()")

    @property
    def notes(self) -> list[str]:
        """What the figures are based on."""
        return list(self.report["notes"])

    @property
    def warnings(self) -> list[str]:
        """Why some figures are better than they should be; empty if all are fair."""
        return list(self.report["warnings"])

    def accuracy(self) -> Figure:
        """Hits@3 by type of query."""
        return Figure(_relatum.Engine.benchmark_as(self._json, "accuracy"))

    def time(self) -> Figure:
        """Milliseconds a query by type."""
        return Figure(_relatum.Engine.benchmark_as(self._json, "time"))

    def accuracy_by_k(self, progress: _progress.Progress = False) -> Figure:
        """Hits@3 by how many values of a variable are followed; figures that are missing are measured now."""
        svg = self._picture("k", progress)
        assert svg is not None
        return Figure(svg)

    def accuracy_by_rank(self, progress: _progress.Progress = False) -> Figure | None:
        """Hits@3 of all models of the project by their rank; ``None`` if all have the same rank."""
        svg = self._picture("rank", progress)
        return None if svg is None else Figure(svg)

    def _picture(self, what: str, progress: _progress.Progress) -> str | None:
        if self._engine is None:
            raise MisuseError("this benchmark was pickled without its project, which was never saved: nothing can be measured")
        told = _progress.listener(progress, _progress.plain)
        return self._engine._core.benchmark_picture(what, dumps(self._options), told)

    def to_csv(self) -> str:
        """The figures as comma-separated values."""
        return _relatum.Engine.benchmark_as(self._json, "csv")

    def to_markdown(self) -> str:
        """The tables as Markdown."""
        return _relatum.Engine.benchmark_as(self._json, "markdown")

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # The figures are worth keeping even where the project was never saved.
        saved = self._engine is not None and self._engine.folder is not None
        return (Benchmark, (self._engine if saved else None, self._options, self._json))

    def __str__(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return f"<Benchmark of {self.report['model']}: {', '.join(row['method'] for row in self.report['rows'])}>"

    def _repr_html_(self) -> str:
        html = self.table()._repr_html_()  # type: ignore[operator]
        return f"{html}{self.accuracy().svg}"


def sample(engine: Engine, options: dict[str, Any], progress: _progress.Progress) -> pd.DataFrame:
    """See :meth:`Engine.sample`."""
    told = _progress.listener(progress, _progress.plain)
    found = json.loads(engine._core.sample(dumps(options), told))
    rows = [{**row, "examples": row.get("examples", [])} for row in found["types"]]
    columns = ["type", "split", "queries", "easy_answers", "hard_answers", "skeleton", "shortfall", "examples"]
    result = frame(rows, columns, "sample()")
    result.attrs["not_in_betae"] = found["not_in_betae"]
    return result


def tune(engine: Engine, options: dict[str, Any], progress: _progress.Progress) -> pd.DataFrame:
    """See :meth:`Engine.tune`."""
    told = _progress.listener(progress, _progress.plain)
    tuned = json.loads(engine._core.tune(dumps(options), told))
    rows = []
    for kind, choice in tuned["types"].items():
        trials = choice["trials"] or [{"setting": choice["setting"], "metrics": {}}]
        for trial in trials:
            metrics = trial["metrics"]
            lead = choice.get("lead", {}) if trial["setting"] == choice["setting"] else {}
            hits = metrics.get("hits", [None] * 3)
            rows.append(
                {
                    "type": kind,
                    "chosen": trial["setting"] == choice["setting"],
                    "queries": metrics.get("count"),
                    "mrr": metrics.get("mrr"),
                    "hits@3": hits[1],
                    "standard_error": trial.get("standard_error"),
                    "lead": lead.get("difference"),
                    "lead_error": lead.get("standard_error"),
                    "setting": trial["setting"],
                }
            )
    columns = ["type", "chosen", "queries", "mrr", "hits@3", "standard_error", "lead", "lead_error", "setting"]
    return frame(rows, columns, "tune()")


def benchmark(engine: Engine, options: dict[str, Any], progress: _progress.Progress) -> Benchmark:
    """See :meth:`Engine.benchmark`."""
    told = _progress.listener(progress, _progress.plain)
    return Benchmark(engine, options, engine._core.benchmark(dumps(options), told))
