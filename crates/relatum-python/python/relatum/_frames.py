"""Triples in the frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ._arguments import several
from .errors import DataError, OptionsError


def rows(frame: Any, columns: Sequence[str] | None) -> Iterable[tuple[str, str, str]]:
    """The triples of a frame; a lazy one is computed, but only the three columns."""
    lazy = hasattr(frame, "collect_schema") and hasattr(frame, "collect")
    there = list(frame.collect_schema().names() if lazy else frame.columns)
    chosen = _columns(there, columns)
    if lazy:
        frame = frame.select(chosen).collect()
    twice = next((name for name in chosen if there.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"several columns are called {twice!r}: rename all but one")
    return zip(*(_names(frame[name], name) for name in chosen))


def _names(column: Any, name: Any) -> list[str]:
    values: list[str] = column.to_list()
    for row, value in enumerate(values):
        if isinstance(value, str):
            continue
        if _is_missing(value):
            raise DataError(f"the {name!r} of row {row} is missing: drop such rows first, or fill them")
        raise TypeError(f"the {name!r} of row {row} is {value!r}, not a str: convert the column first")
    return values


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or NA: values that are not equal to themselves, or refuse to say."""
    if value is None:
        return True
    try:
        return not bool(value == value)
    except TypeError:
        return True
    except ValueError:
        # An array has no single truth; it is not a name, but it is there.
        return False


#: What the columns are usually called, the most telling name first: a frame may have a ``label`` beside ``relation``.
_USUAL = (
    ("head", "subject", "source", "h", "s", "from"),
    ("relation", "predicate", "rel", "r", "p", "label"),
    ("tail", "object", "target", "t", "o", "to"),
)


def _columns(there: list[Any], given: Sequence[str] | None) -> list[Any]:
    if given is not None:
        wanted = several(given, "columns")
        if len(wanted) != 3:
            raise OptionsError(f"`columns` must be three, those of head, relation and tail, not {len(wanted)}")
        for name in wanted:
            if name not in there:
                raise OptionsError(f"there is no column {name!r}; there are: {', '.join(map(str, there))}")
        return wanted
    by_name = {str(name).lower(): name for name in reversed(there)}
    found = [next((by_name[name] for name in usual if name in by_name), None) for usual in _USUAL]
    if all(name is not None for name in found):
        return found
    if len(there) == 3:
        return there
    raise OptionsError(
        "say which columns hold head, relation and tail, as in columns=('a', 'b', 'c'); there are: "
        + (", ".join(map(str, there)) or "none")
    )
