"""HTML for notebooks: tables with score bars, and explanations as graphs, without script."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import Answer, Answers, Atom, Explanation

_KNOWN = "#2b7a4b"
_PREDICTED = "#3566b8"
_NEGATED = "#b3413b"
#: How many characters of a name are shown; the whole is in its tooltip.
_MOST = 26
#: How many characters of a line below a picture are shown.
_LINE = 150
_FONT = "font-family:system-ui,sans-serif;font-size:12px"


def answers_html(answers: Answers) -> str:
    """A table with a bar for each score; below it, the best explanation."""
    note = f"{answers.shape}, {answers.certainty}, {answers.rows:,} rows scored"
    parts = [f'<div style="{_FONT}"><p><code>{escape(_visible(answers.question))}</code><br>{escape(note)}</p>']
    if answers.truth is not None:
        parts.append(f"<p>truth: {answers.truth:.4f} {_bar(answers.truth, _PREDICTED)}</p>")
    if len(answers) > 0:
        most = max((answer.score for answer in answers), default=1.0)
        # Raw scores are not truth values, so the best of them fills its bar.
        scale = 1.0 if most <= 1.0 else most
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in ("", "answer", "score", "", ""))
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        for place, answer in enumerate(answers, 1):
            parts.append(_row(place, answer, scale))
        parts.append("</tbody></table>")
    elif answers.truth is None:
        parts.append("<p>no answers</p>")
    first = next((answer for answer in answers if answer.explanation is not None), None)
    if first is not None and first.explanation is not None:
        shown = escape(_visible(first.label or first.text))
        parts.append(f"<p>why <b>{shown}</b>:</p>{first.explanation.to_svg()}")
    return "".join(parts) + "</div>"


def answer_html(answer: Answer) -> str:
    """One answer, with its explanation."""
    why = "" if answer.explanation is None else answer.explanation.to_svg()
    rows = _row(1, answer, max(1.0, answer.score))
    return f'<div style="{_FONT}"><table><tbody>{rows}</tbody></table>{why}</div>'


def _row(place: int, answer: Answer, scale: float) -> str:
    colour = _KNOWN if answer.known else _PREDICTED
    known = {True: "known", False: "predicted", None: "?"}[answer.known]
    if answer.ways:
        known += f", {answer.ways} way{'s' if answer.ways > 1 else ''}"
    name = escape(_visible(answer.label or answer.text))
    title = escape(_visible(answer.entity), quote=True)
    return (
        f'<tr><td style="text-align:right">{place}</td>'
        f'<td style="text-align:left" title="{title}">{name}</td>'
        # A number of its own: pages that clean HTML keep it where they drop the bar.
        f'<td style="text-align:right">{answer.score:.4f}</td>'
        f"<td>{_bar(answer.score, colour, scale)}</td>"
        f'<td style="text-align:left;color:{colour}">{known}</td></tr>'
    )


def _bar(score: float, colour: str, scale: float = 1.0) -> str:
    share = 0.0 if not math.isfinite(score) else min(1.0, max(0.0, score / scale))
    return (
        f'<svg width="100" height="14" role="img" aria-label="{score:.4f}" style="vertical-align:middle">'
        f'<rect width="100" height="14" fill="#8883"/>'
        f'<rect width="{100 * share:.1f}" height="14" fill="{colour}"/></svg>'
    )


def explanation_svg(explanation: Explanation) -> str:
    """The entities of an assignment as nodes, its atoms as arrows: green if known, blue if predicted, red and
    dashed if negated."""
    atoms = list(explanation.atoms)
    places = _places(atoms)
    if not places:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"></svg>'
    widths = {node: max(60, 7 * min(_MOST, len(text)) + 20) for node, (text, _, _) in places.items()}
    # Between two columns there is room for the longest name of a relation.
    gap = 50 + 6 * max(min(_MOST, len(str(atom.relation))) + 8 for atom in atoms)
    starts: dict[int, int] = {}
    at = 10
    for column in range(1 + max(column for _, column, _ in places.values())):
        starts[column] = at
        at += gap + max((widths[node] for node, (_, of, _) in places.items() if of == column), default=0)
    boxes = {node: (starts[column], row * 74 + 24, widths[node]) for node, (_, column, row) in places.items()}
    # The name beside an upright arrow needs room as well.
    upright = any(boxes[atom.subject.id][0] == boxes[atom.object.id][0] for atom in atoms)
    width = max(x + w for x, _, w in boxes.values()) + (gap if upright else 20)
    notes = _notes(explanation)
    height = max(y for _, y, _ in boxes.values()) + 50 + 18 * len(notes)
    width = max([width, *(20 + 13 * len(text) // 2 for text, _, _ in notes)])
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" style="{_FONT}">',
        "<title>why this is an answer</title>",
    ]
    labels: list[str] = []
    seen: dict[tuple[int, int], int] = {}
    for atom in atoms:
        out.append(_edge(atom, boxes, labels, seen))
    names = {entity.id: variable for variable, entity in explanation.assignment.items()}
    for node, (text, _, _) in places.items():
        x, y, w = boxes[node]
        variable = names.get(node)
        bold = ' font-weight="bold"' if variable else ""
        out.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="26" rx="6" fill="#fff" stroke="#667"/>'
            f'<text x="{x + w / 2:.0f}" y="{y + 17}" text-anchor="middle" fill="#223"{bold}>'
            f"<title>{escape(_visible(text))}</title>{escape(_short(_visible(text)))}</text>"
        )
        if variable:
            out.append(f'<text x="{x + 3}" y="{y - 3}" font-size="10" fill="#778">{escape(variable)}</text>')
    out += labels
    for line, (text, whole, colour) in enumerate(notes):
        y = height - 8 - 18 * (len(notes) - 1 - line)
        out.append(f'<text x="10" y="{y}" fill="{colour}"><title>{escape(whole)}</title>{escape(text)}</text>')
    return "".join(out) + "</svg>"


def _notes(explanation: Explanation) -> list[tuple[str, str, str]]:
    """The lines below the picture, each with its whole text and its colour: negated sub-queries, and what speaks for
    predicted edges."""
    notes = [(_visible(f"not ({sub.text})  {sub.value:.4f}"), _NEGATED) for sub in explanation.sub_queries]
    for atom in explanation.atoms:
        if atom.reasons:
            notes.append((_visible(f"{atom}:"), _PREDICTED))
            notes += [(_visible(f"· {reason}"), "#667") for reason in atom.reasons]
    return [(text if len(text) <= _LINE else text[: _LINE - 1] + "…", text, colour) for text, colour in notes]


def _edge(
    atom: Atom,
    boxes: dict[int, tuple[int, int, int]],
    labels: list[str],
    seen: dict[tuple[int, int], int],
) -> str:
    (x1, y1, w1), (x2, y2, w2) = boxes[atom.subject.id], boxes[atom.object.id]
    pair = (min(atom.subject.id, atom.object.id), max(atom.subject.id, atom.object.id))
    lane = seen.get(pair, 0)
    seen[pair] = lane + 1
    upright = x1 == x2
    if atom.subject.id == atom.object.id:
        # From the top of the box back to it, through a control point above.
        start, end = (x1 + w1 - 18.0, float(y1)), (x1 + w1 - 42.0, float(y1))
    elif upright:
        start, end = (x1 + w1 / 2, y1 + 26.0), (x2 + w2 / 2, float(y2))
        if y1 > y2:
            start, end = (x1 + w1 / 2, float(y1)), (x2 + w2 / 2, y2 + 26.0)
    elif x1 < x2:
        start, end = (float(x1 + w1), y1 + 13.0), (float(x2), y2 + 13.0)
    else:
        start, end = (float(x1), y1 + 13.0), (float(x2 + w2), y2 + 13.0)
    colour = _NEGATED if atom.negated else (_KNOWN if atom.known else _PREDICTED)
    dash = ' stroke-dasharray="4 3"' if atom.negated else ""
    bend = 26 * lane + (36 if atom.subject.id == atom.object.id else 0)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - bend)
    path = f"M{start[0]:.0f},{start[1]:.0f} Q{middle[0]:.0f},{middle[1]:.0f} {end[0]:.0f},{end[1]:.0f}"
    # The arrow's head is drawn in the direction of the curve: markers would need ids, which a page may have twice.
    angle = math.atan2(end[1] - middle[1], end[0] - middle[0])
    wings = [
        (end[0] - 8 * math.cos(angle + turn), end[1] - 8 * math.sin(angle + turn)) for turn in (0.4, -0.4)
    ]
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in [end, *wings])
    word = "not " if atom.negated else ""
    text = escape(_short(_visible(f"{word}{atom.relation}")))
    # Beside an upright arrow, above any other.
    x, y, side = (middle[0] + 8, middle[1] + 4, "start") if upright else (middle[0], middle[1] + bend / 2 - 5, "middle")
    labels.append(
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{side}" font-size="11" '
        f'fill="{colour}">{text} {atom.value:.3f}</text>'
    )
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def _places(atoms: list[Atom]) -> dict[int, tuple[str, int, int]]:
    """A column and a row for every entity: named entities first, each next one a column further."""
    texts: dict[int, str] = {}
    neighbours: dict[int, list[int]] = {}
    anchors: list[int] = []
    for atom in atoms:
        for thing, other, variable in (
            (atom.subject, atom.object, atom.subject_variable),
            (atom.object, atom.subject, atom.object_variable),
        ):
            texts[thing.id] = str(thing)
            neighbours.setdefault(thing.id, []).append(other.id)
            if variable is None and thing.id not in anchors:
                anchors.append(thing.id)
    columns: dict[int, int] = {}
    waiting = anchors or list(texts)[:1]
    column = 0
    while len(columns) < len(texts):
        for node in waiting:
            columns.setdefault(node, column)
        following = [other for node in waiting for other in neighbours[node] if other not in columns]
        waiting = list(dict.fromkeys(following)) or [node for node in texts if node not in columns][:1]
        column += 1
    rows: dict[int, int] = {}
    places: dict[int, tuple[str, int, int]] = {}
    for node, at in columns.items():
        places[node] = (texts[node], at, rows.get(at, 0))
        rows[at] = rows.get(at, 0) + 1
    return places


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def _visible(text: str) -> str:
    """The text with control characters, and marks that change the direction of writing, as escapes."""
    return "".join(
        f"\\u{ord(c):04X}" if ord(c) < 32 or ord(c) == 127 or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" else c
        for c in text
    )
