"""Shows the progress of long work."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any, Union

#: An event: what happened, with its numbers. ``event["event"]`` says which it is.
Event = dict[str, Any]
#: ``True`` shows a bar if ``tqdm`` is installed, and lines if not; a function hears every event, and an exception
#: that it raises stops the work.
Progress = Union[bool, Callable[[Event], object]]

Listener = Callable[[str, str], object]


def listener(progress: Progress, show: Callable[[], Callable[[Event], object]]) -> Listener | None:
    """The function that the engine calls, or ``None``."""
    if progress is False or progress is None:
        return None
    if progress is True:
        hear = show()
    elif callable(progress):
        hear = progress
    else:
        raise TypeError(f"`progress` must be True, False or a function, not {type(progress).__name__}")

    def told(name: str, data: str) -> None:
        event = json.loads(data)
        hear({"event": name, **event} if isinstance(event, dict) else {"event": name, "what": event})

    return told


def training() -> Callable[[Event], object]:
    """A bar of epochs, or a line for each."""
    tqdm = _tqdm()
    return _lines if tqdm is None else _Bars(tqdm)


def plain() -> Callable[[Event], object]:
    """A bar for each part of the work, or nothing."""
    tqdm = _tqdm()
    return (lambda event: None) if tqdm is None else _Parts(tqdm)


def _tqdm() -> Any:
    """The bars of ``tqdm``, if it is installed."""
    with warnings.catch_warnings():
        # In a notebook without ipywidgets it warns, and then draws its bars as text, which is good enough.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
    return tqdm


def _lines(event: Event) -> None:
    if event["event"] == "epoch":
        valid = event.get("valid")
        mrr = f", validation MRR {valid['mrr']:.4f}" if valid else ""
        sys.stderr.write(f"epoch {event['epoch']}: loss {event['loss']:.4f}{mrr}\n")


class _Bars:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._mrr = ""

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "begin":
            self._close()
            settings = event["settings"]
            title = f"{settings.get('model', settings.get('predictor'))} rank {settings['rank']}"
            self._bar = self._tqdm(total=event["last_epoch"], initial=event["epochs_done"], desc=title, unit="epoch")
        elif self._bar is None:
            return
        elif kind == "batch":
            self._bar.set_postfix_str(f"loss {event['loss']:.3f}{self._mrr}", refresh=False)
        elif kind == "epoch":
            if event.get("valid"):
                self._mrr = f", MRR {event['valid']['mrr']:.4f}"
            self._bar.set_postfix_str(f"loss {event['loss']:.3f}{self._mrr}", refresh=False)
            self._bar.update(1)
        elif kind == "ends_after":
            self._bar.total = event["epoch"]

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __del__(self) -> None:
        self._close()


class _Parts:
    """One bar for each type of query or pass over edges."""

    _TOTALS = ("wanted", "all", "queries")
    _DONE = ("found", "done")

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, event: Event) -> None:
        total = next((event[name] for name in self._TOTALS if isinstance(event.get(name), int)), None)
        done = next((event[name] for name in self._DONE if isinstance(event.get(name), int)), None)
        if done is None:
            self._close()
            if total is not None:
                words = [event[name] for name in ("label", "family", "split", "type") if event.get(name)]
                self._bar = self._tqdm(total=total, desc=" ".join(map(str, words)), leave=False)
        else:
            if self._bar is None:
                self._bar = self._tqdm(total=total, desc=event["event"], leave=False)
            self._bar.total = total
            self._bar.n = done
            self._bar.refresh()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __del__(self) -> None:
        self._close()
