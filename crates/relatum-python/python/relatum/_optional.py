"""Optional packages: used if they are installed, else an error says what to install."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def need(package: str, what: str) -> ModuleType:
    """Imports a package, or says how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        message = f"{what} needs the package {package}: pip install {package.split('.')[0]}"
        raise ImportError(message, name=package) from error


def frame(rows: list[dict[str, Any]], columns: list[str], what: str) -> pd.DataFrame:
    """A data frame of rows, with these columns even where there are no rows."""
    result: pd.DataFrame = need("pandas", what).DataFrame.from_records(rows, columns=columns)
    return result
