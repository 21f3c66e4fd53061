"""What can go wrong, as exceptions.

Every exception of Relatum is a :class:`RelatumError`, and also the built-in exception that a caller would expect:
a mistake in a question is a ``ValueError``, a name that is not in the graph a ``LookupError``, a folder that is not
there a ``FileNotFoundError``, a full disk an ``OSError``.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class RelatumError(Exception):
    """Anything that Relatum could not do."""


class Span(NamedTuple):
    """A place in a question, in characters: ``question[span.start:span.end]``."""

    start: int
    end: int


class QueryError(RelatumError, ValueError):
    """A question that cannot be understood, or names something that is not in the graph.

    ``str()`` shows each mistake where it is, with a caret below it:

    >>> import relatum
    >>> graph = relatum.Graph([("Alien", "stars", "Sigourney Weaver")])
    >>> try:
    ...     graph.engine.check("?F : stars(F, 'Sigourney Weever')", strict=True)
    ... except relatum.QueryError as error:
    ...     print(error)
    ...     print(error.suggestions)
    error: there is no entity 'Sigourney Weever'
      |
    1 | ?F : stars(F, 'Sigourney Weever')
      |               ^^^^^^^^^^^^^^^^^^ not an entity of this graph
      |
      = help: the nearest name is "Sigourney Weaver"
    ['Sigourney Weaver']
    """

    def __init__(self, shown: str, source: str, diagnostics: str, suggestions: list[str]) -> None:
        super().__init__(shown, source, diagnostics, suggestions)
        #: The question.
        self.source = source
        #: Each mistake with its message, its labelled places and its advice.
        self.diagnostics: list[dict[str, Any]] = json.loads(diagnostics)
        #: Names of the graph that could have been meant.
        self.suggestions = suggestions
        self._shown = shown

    @property
    def message(self) -> str:
        """The first mistake in one line."""
        return str(self.diagnostics[0]["message"])

    @property
    def span(self) -> Span | None:
        """The place of the first mistake; ``None`` if it is the whole question."""
        labels = self.diagnostics[0]["labels"]
        if not labels:
            return None
        source = self.source.encode()
        start, end = (labels[0]["span"][side]["byte"] for side in ("start", "end"))
        return Span(len(source[:start].decode()), len(source[:end].decode()))

    def __str__(self) -> str:
        return self._shown


class UnknownNameError(RelatumError, LookupError):
    """A name that no entity or relation has, or that several have."""

    def __init__(self, message: str, name: str, nearest: list[str]) -> None:
        super().__init__(message, name, nearest)
        #: The name.
        self.name = name
        #: The names nearest to it, or the names of the things that have it as their label.
        self.nearest = nearest

    def __str__(self) -> str:
        return str(self.args[0])


class OptionsError(RelatumError, ValueError):
    """Options that contradict each other, or a number outside its range."""


class MisuseError(RelatumError, ValueError):
    """Something that cannot be done as it was asked for; the message says what to do instead."""


class NotFoundError(RelatumError, FileNotFoundError):
    """A project, a file or a model that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])


class DataError(RelatumError, ValueError):
    """A file that is damaged, or whose content is not what it should be."""


class MachineError(RelatumError, OSError):
    """The machine refused: no space, no permission."""

    def __str__(self) -> str:
        return str(self.args[0])
