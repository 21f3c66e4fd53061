"""Checks arguments, so that a message names the argument, what it must be, and what came.

``None`` means "choose for me" everywhere and passes. Numbers of NumPy are accepted as the numbers that they are.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import OptionsError

#: The engine counts in 64 bits; nothing that can be counted here comes near.
_MOST = 2**63 - 1
#: And computes in floats of 32.
_GREATEST = float(np.finfo(np.float32).max)


def count(value: Any, name: str, most: int = _MOST) -> int | None:
    """A whole number of at least 0. A float is refused even if it is whole, as by ``range``."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not hasattr(type(value), "__index__"):
        raise TypeError(f"`{name}` must be an int, not {type(value).__name__}")
    if isinstance(value, np.ndarray):
        raise TypeError(f"`{name}` must be one int, not an array")
    whole = int(value)
    if not 0 <= whole <= most:
        raise OptionsError(f"`{name}` must be a whole number from 0 to {_power(most)}, not {_short(whole)}")
    return whole


def seed(value: Any, name: str = "seed") -> int | None:
    """What randomness begins with."""
    return count(value, name, 2**64 - 1)


def number(value: Any, name: str) -> float | None:
    """A finite number."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"`{name}` must be a number, not {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not abs(found) <= _GREATEST:
        raise OptionsError(f"`{name}` must be a finite number of at most 3.4e38, not {_short(value)}")
    return found


def word(value: Any, name: str) -> str | None:
    """A text that UTF-8 can express."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise OptionsError(f"`{name}` holds half of a surrogate pair, which is not a character: {value!a}") from None
    return str(value)


def switch(value: Any, name: str) -> bool:
    """``True`` or ``False``: a text such as ``"no"`` would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be True or False, not {type(value).__name__}")
    return bool(value)


def words(values: Any, name: str) -> list[str]:
    """Some texts."""
    return [_given(word(value, name), name) for value in several(values, name)]


def counts(values: Any, name: str) -> list[int]:
    """Some whole numbers."""
    return [_given(count(value, name), name) for value in several(values, name)]


def numbers(values: Any, name: str) -> list[float]:
    """Some numbers."""
    return [_given(number(value, name), name) for value in several(values, name)]


def several(values: Any, name: str) -> list[Any]:
    """A list of anything iterable but a text, whose letters nobody means."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"`{name}` must be a list, not one {type(values).__name__}")
    if not isinstance(values, Iterable):
        raise TypeError(f"`{name}` must be a list, not {type(values).__name__}")
    return list(values)


def path(value: Any, name: str) -> str:
    """Where a file or folder is."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str):
            if "\0" in text:
                raise OptionsError(f"`{name}` must be a path, which cannot hold the character NUL: {text!r}")
            return text
    raise TypeError(f"`{name}` must be a str or a Path, not {type(value).__name__}")


def model_name(model: Any) -> str | None:
    """The name of a model that is given by its name or as a :class:`Model`."""
    name = model if model is None or isinstance(model, str) else getattr(model, "name", None)
    if model is not None and not isinstance(name, str):
        raise TypeError(f"`model` must be the name of a model or a Model, not {type(model).__name__}")
    return word(name, "model")


def dumps(arguments: dict[str, Any]) -> str:
    """Checked arguments as the engine reads them."""
    return json.dumps(arguments, allow_nan=False)


def _given(value: Any, name: str) -> Any:
    if value is None:
        raise TypeError(f"`{name}` must not hold None")
    return value


def _power(most: int) -> str:
    return f"2**{(most + 1).bit_length() - 1} - 1"


def _short(value: Any) -> str:
    # Python refuses to print whole numbers of more than some thousand digits.
    if isinstance(value, int) and value.bit_length() > 200:
        return f"one of {value.bit_length()} bits"
    return repr(value)
