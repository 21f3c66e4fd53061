"""The folder of a graph that was not saved: a temporary project, removed with the last object that needs it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class Home:
    """A temporary folder that is removed with this object, or when Python ends."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="relatum-")
        self._end = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @property
    def project(self) -> Path:
        """The folder of the project, which does not exist yet."""
        return Path(self._folder) / "graph"
