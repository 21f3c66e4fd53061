"""Relatum answers logical questions over incomplete knowledge graphs, and explains every answer.

>>> import relatum
>>> graph = relatum.films()
>>> model = relatum.train(graph, rank=16, epochs=3, progress=False)
>>> answers = graph.engine.ask('?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)', explain=True)
>>> answers[0].known, answers.shape
(True, '2p')

:func:`open` opens a project folder of ``relatum init``; a :class:`Graph` is made from triples, frames, arrays or
files; :func:`train` makes a :class:`Model`; :meth:`Engine.ask` answers.
"""

from ._relatum import __version__
from .answers import (
    Alternative,
    Answer,
    Answers,
    Atom,
    Certainty,
    Entity,
    Explanation,
    Settings,
    SubQuery,
)
from .engine import Engine, Options, Plan, open
from .errors import (
    DataError,
    MachineError,
    MisuseError,
    NotFoundError,
    OptionsError,
    QueryError,
    RelatumError,
    Span,
    UnknownNameError,
)
from .foreign import from_kbc, from_numpy, from_pykeen
from .graph import Graph, films
from .measuring import Benchmark, Figure
from .model import Model, grid_search, merge, train
from .query import Formula, Question, V, Variable, exists, rel
from .rules import Rules

__all__ = [
    "Alternative",
    "Answer",
    "Answers",
    "Atom",
    "Benchmark",
    "Certainty",
    "DataError",
    "Engine",
    "Entity",
    "Explanation",
    "Figure",
    "Formula",
    "Graph",
    "MachineError",
    "MisuseError",
    "Model",
    "NotFoundError",
    "Options",
    "OptionsError",
    "Plan",
    "QueryError",
    "Question",
    "RelatumError",
    "Rules",
    "Settings",
    "Span",
    "SubQuery",
    "UnknownNameError",
    "V",
    "Variable",
    "__version__",
    "exists",
    "films",
    "from_kbc",
    "from_numpy",
    "from_pykeen",
    "grid_search",
    "merge",
    "open",
    "rel",
    "train",
]
