"""Questions and their answers: what they hold, how they show, and that they are the command line's."""

from __future__ import annotations

import json
import pathlib
import pickle
import re
import subprocess
import threading

import pytest
from conftest import TWO_HOPS

import relatum


def test_answers_are_a_sequence_with_reasons(films: relatum.Engine) -> None:
    answers = films.ask(TWO_HOPS, top=5, explain=True)
    assert isinstance(answers, relatum.Answers) and len(answers) == 5
    assert [answer.score for answer in answers] == sorted((a.score for a in answers), reverse=True)
    first = answers[0]
    assert first.known is True and first.score == 1.0 and first.entity in films.graph.entities
    assert answers[-1] == list(answers)[4] and len(answers[1:3]) == 2
    why = first.explanation
    assert why is not None
    assert {atom.relation.name for atom in why.atoms} == {"stars", "has_genre"}
    assert set(why.assignment) == {"F", "G"} and why.assignment["G"].name == first.entity
    folded = 1.0
    for atom in why.atoms:
        folded *= atom.value
    assert folded == pytest.approx(why.score, abs=1e-6)
    assert answers.shape == "2p" and answers.target == "G" and answers.asked == "entities"
    assert answers.certainty.kind == "exact" and answers.method == "exact"
    assert answers.settings.t_norm == "product" and answers.settings.model == "default"


def test_numbers_are_those_of_the_json(films: relatum.Engine) -> None:
    answers = films.ask(TWO_HOPS, new_only=True, known="train")
    data = json.loads(answers.to_json())
    assert [answer["score"] for answer in data["answers"]] == [answer.score for answer in answers]
    assert answers.to_dict() == data


QUESTIONS = [
    (TWO_HOPS, {}, []),
    (TWO_HOPS, {"explain": True, "top": 3}, ["--explain", "--top", "3"]),
    (TWO_HOPS, {"known": "train", "new_only": True, "explain": True}, ["--known", "train", "--new-only", "--explain"]),
    (TWO_HOPS, {"method": "beam", "k": 8, "paper": True}, ["--method", "beam", "--k", "8", "--paper"]),
    (TWO_HOPS, {"t_norm": "godel", "calibration": "sigmoid"}, ["--t-norm", "godel", "--calibration", "sigmoid"]),
    ('?F : stars(F, "Will Smith") and not has_genre(F, Comedy)', {"explain": True}, ["--explain"]),
    ('stars("Bad Boys (1995)", "Will Smith")', {}, []),
    ('?R : R("Bad Boys (1995)", "Will Smith")', {}, []),
    ("SELECT ?f WHERE { ?f r:has_genre e:Thriller } LIMIT 3", {}, []),
    ("?F : stars(F, Nobodyy)", {}, []),
    ('["Will Smith", ["^stars", "has_genre"]]', {}, []),
]


@pytest.mark.parametrize(("question", "options", "flags"), QUESTIONS)
def test_json_is_byte_equal_to_the_command_lines(
    films: relatum.Engine, films_folder: pathlib.Path, command: str, question: str, options: dict, flags: list[str]
) -> None:
    printed = subprocess.run(
        [command, "ask", str(films_folder), "--json", *flags, "--", question], capture_output=True, check=False
    )
    try:
        answers = films.ask(question, **options)
    except relatum.QueryError:
        assert printed.returncode == 2
        return
    assert printed.returncode == 0, printed.stderr.decode()
    assert (answers.to_json() + "\n").encode() == printed.stdout


SMITH = 'stars(F, "Will Smith")'
SHAPES = {
    "1p": f"?F : {SMITH}",
    "2p": f"?G : exists F. {SMITH} and has_genre(F, G)",
    "3p": f"?X : exists F, G. {SMITH} and has_genre(F, G) and has_genre(X, G)",
    "2i": f"?F : {SMITH} and has_genre(F, Comedy)",
    "3i": f'?F : {SMITH} and has_genre(F, Comedy) and stars(F, "Martin Lawrence")',
    "pi": f'?G : exists F. {SMITH} and has_genre(F, G) and has_genre("Bad Boys (1995)", G)',
    "ip": f'?G : exists F. {SMITH} and stars(F, "Martin Lawrence") and has_genre(F, G)',
    "2u": f"?F : {SMITH} or has_genre(F, Thriller)",
    "up": f'?G : exists F. ({SMITH} or stars(F, "Martin Lawrence")) and has_genre(F, G)',
}


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("form", ["text", "sparql", "tuple"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_byte_equal_to_the_command_lines(
    films: relatum.Engine, films_folder: pathlib.Path, command: str, shape: str, form: str, explain: bool
) -> None:
    question: object = SHAPES[shape]
    if form == "sparql":
        question = films.check(question)["sparql"]
    elif form == "tuple":
        question = TUPLES[shape]
    text = question if isinstance(question, str) else json.dumps(question)
    flags = ["--explain"] if explain else []
    printed = subprocess.run(
        [command, "ask", str(films_folder), "--json", "--known", "train", *flags, "--", text], capture_output=True, check=False
    )
    answers = films.ask(question, known="train", explain=explain)
    assert printed.returncode == 0, printed.stderr.decode()
    assert (answers.to_json() + "\n").encode() == printed.stdout and answers.shape == shape and len(answers) > 0


ONE, TWO = ("Will Smith", ("^stars",)), ("Martin Lawrence", ("^stars",))
FUNNY = ("Comedy", ("^has_genre",))
TUPLES = {
    "1p": ONE,
    "2p": ("Will Smith", ("^stars", "has_genre")),
    "3p": ("Will Smith", ("^stars", "has_genre", "^has_genre")),
    "2i": (ONE, FUNNY),
    "3i": (ONE, FUNNY, TWO),
    "pi": (("Will Smith", ("^stars", "has_genre")), ("Bad Boys (1995)", ("has_genre",))),
    "ip": ((ONE, TWO), ("has_genre",)),
    "2u": (ONE, FUNNY, ("u",)),
    "up": ((ONE, TWO, ("u",)), ("has_genre",)),
}


def test_a_list_is_answered_in_its_order(films: relatum.Engine) -> None:
    names = [name for head, relation, name in films.graph.triples("train") if relation == "stars"][:30]
    questions = [f"?F : stars(F, {json.dumps(name)})" for name in names]
    together = films.ask(questions, top=3)
    assert [answers.query for answers in together] == questions
    assert together == [films.ask(question, top=3) for question in questions]
    with pytest.raises(relatum.QueryError) as raised:
        films.ask([questions[0], "?F : nonsense(F, X)"])
    assert any("question 1 of 2" in note for note in getattr(raised.value, "__notes__", ["question 1 of 2"]))
    assert films.ask([]) == []


def test_tuples_and_sparql(films: relatum.Engine) -> None:
    text = films.ask('?G : exists F. stars(F, "Will Smith") and has_genre(F, G)', top=3)
    by_tuple = films.ask(("Will Smith", ("^stars", "has_genre")), top=3)
    assert [answer.entity for answer in by_tuple] == [answer.entity for answer in text]
    sparql = films.ask("SELECT ?f WHERE { ?f r:has_genre e:Thriller } LIMIT 3")
    assert sparql.to_dict()["answers"] == films.ask("?F : has_genre(F, Thriller)", top=3).to_dict()["answers"]
    with pytest.raises(relatum.QueryError):
        films.ask("?F : has_genre(F, Thriller)", syntax="sparql")


def test_statements_and_relations(films: relatum.Engine) -> None:
    head, relation, tail = films.graph.triples("train")[0]
    statement = films.ask(f"{relation}({json.dumps(head)}, {json.dumps(tail)})")
    assert statement.truth == 1.0 and len(statement) == 0 and statement.asked == "truth"
    relations = films.ask(f"?R : R({json.dumps(head)}, {json.dumps(tail)})")
    assert relations.asked == "relations" and relations[0].entity == relation and relations[0].known is True


def test_one_entity_is_explained(films: relatum.Engine) -> None:
    answers = films.explain(TWO_HOPS, "Thriller")
    assert [answer.entity for answer in answers] == ["Thriller"] and answers[0].explanation is not None


def test_frames(films: relatum.Engine) -> None:
    answers = films.ask(TWO_HOPS, top=4)
    pandas = answers.to_pandas()
    assert list(pandas.columns) == ["entity", "label", "score", "known", "ways"] and len(pandas) == 4
    assert pandas["score"].tolist() == [answer.score for answer in answers]
    polars = answers.to_polars()
    assert polars["entity"].to_list() == pandas["entity"].tolist()
    nothing = films.ask("SELECT ?f WHERE { ?f r:has_genre e:Thriller } OFFSET 1000000")
    assert len(nothing) == 0 and nothing.to_pandas().empty and nothing.to_polars().is_empty()


def test_answers_are_pickled(films: relatum.Engine) -> None:
    answers = films.ask(TWO_HOPS, explain=True)
    copy = pickle.loads(pickle.dumps(answers))
    assert copy == answers and copy.to_json() == answers.to_json()
    assert pickle.loads(pickle.dumps(answers[0])) == answers[0]
    assert relatum.Answers.from_json(answers.to_json()) == answers


def test_a_notebook_shows_bars_and_a_graph_without_script(films: relatum.Engine) -> None:
    answers = films.ask(TWO_HOPS, explain=True)
    html = answers._repr_html_()
    assert html.count("<tr>") == len(answers) + 1 and "<rect" in html and "<path" in html
    for shown in (html, answers[0]._repr_html_(), answers[0].explanation.to_svg()):
        assert "<script" not in shown and "javascript" not in shown and " on" not in re.sub(r">[^<]*<", "><", shown)
    assert not hasattr(answers[0].explanation, "_repr_html_"), "as HTML, GitHub would clean the picture away"
    assert f"{answers[0].score:.4f}" in re.sub(r"<svg.*?</svg>", "", html), "a score is read without its bar"
    import xml.dom.minidom

    xml.dom.minidom.parseString(answers[0].explanation.to_svg())
    assert films.ask('stars("Bad Boys (1995)", "Will Smith")')._repr_html_()


def test_names_in_html_are_escaped() -> None:
    nasty = '<script>alert("x")</script>\x1b[31m\u202e'
    graph = relatum.Graph([(nasty, "r", "b"), ("b", "r", nasty)])
    relatum.train(graph, rank=2, epochs=1, progress=False)
    answers = graph.engine.ask("?X : r(b, X)", explain=True)
    html = answers._repr_html_()
    assert answers[0].entity == nasty and "<script" not in html and "\x1b" not in html and "\u202e" not in html


def test_mistakes_have_their_place_and_suggestions(films: relatum.Engine) -> None:
    question = '?G : exists F. stars(F, "Martin Lawrence") and has_gnre(F, G)'
    with pytest.raises(relatum.QueryError) as raised:
        films.ask(question)
    error = raised.value
    assert isinstance(error, ValueError) and isinstance(error, relatum.RelatumError)
    assert error.message == "there is no relation 'has_gnre'" and error.suggestions[0] == "has_genre"
    assert question[error.span.start : error.span.end] == "has_gnre"
    lines = str(error).splitlines()
    caret = next(line for line in lines if "^" in line)
    source = next(line for line in lines if "has_gnre(F, G)" in line)
    assert caret.index("^") == source.index("has_gnre")
    assert pickle.loads(pickle.dumps(error)).span == error.span


def test_a_span_counts_characters(films: relatum.Engine) -> None:
    question = '?F : stars(F, "Ärger Öl") and stars(F, Nobodyy)'
    with pytest.raises(relatum.QueryError) as raised:
        films.ask(question)
    assert question[slice(*raised.value.span)] == '"Ärger Öl"'


def test_checks_and_plans_search_nothing(films: relatum.Engine) -> None:
    good = films.check(TWO_HOPS)
    assert good["answerable"] and good["shape"] == "2p" and good["sparql"]
    bad = films.check("?F : stars(F, Nobodyy)")
    assert not bad["answerable"] and bad["diagnostics"][0]["message"].startswith("there is no entity")
    with pytest.raises(relatum.QueryError):
        films.check("?F : stars(F, Nobodyy)", strict=True)
    plan = films.plan(TWO_HOPS)
    assert plan.to_dict()["branches"] and "digraph" in plan.to_dot() and "stars" in str(plan)
    assert films.complete("?F : sta")[0]["replacement"].startswith("stars")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"top": "3"}, TypeError),
        ({"top": 1.5}, TypeError),
        ({"top": True}, TypeError),
        ({"top": -1}, ValueError),
        ({"top": 0}, relatum.OptionsError),
        ({"top": 2**70}, ValueError),
        ({"method": "magic"}, ValueError),
        ({"method": 3}, TypeError),
        ({"explain": "yes"}, TypeError),
        ({"unseen": 2.0}, relatum.OptionsError),
        ({"unseen": float("nan")}, relatum.OptionsError),
        ({"unseen": "much"}, TypeError),
        ({"sharpness": float("inf")}, relatum.OptionsError),
        ({"timeout": -1}, ValueError),
        ({"k": 8, "method": "exact"}, relatum.OptionsError),
        ({"calibration": "adaptive"}, relatum.MisuseError),
        ({"model": "nowhere"}, relatum.NotFoundError),
        ({"model": "../x"}, relatum.MisuseError),
        ({"model": 7}, TypeError),
        ({"known": "some"}, ValueError),
        ({"colour": "red"}, TypeError),
    ],
)
def test_wrong_options_raise_what_they_should(films: relatum.Engine, options: dict, expected: type) -> None:
    with pytest.raises(expected):
        films.ask(TWO_HOPS, **options)


@pytest.mark.parametrize("question", [None, 3, b"?F : stars(F, X)", object(), {"a": 1}])
def test_what_is_no_question_is_a_type_error(films: relatum.Engine, question: object) -> None:
    with pytest.raises(TypeError):
        films.ask(question)


@pytest.mark.parametrize("question", ["", "?", "?F : ", "?F : stars(F", "(" * 5000, "?F : " + "not " * 500 + "r(F, a)", "\x00", "[[[", "SELECT"])
def test_what_cannot_be_read_is_a_query_error(films: relatum.Engine, question: str) -> None:
    with pytest.raises(relatum.QueryError) as raised:
        films.ask(question)
    assert str(raised.value)


def test_a_lone_surrogate_is_a_value_error(films: relatum.Engine) -> None:
    with pytest.raises(ValueError):
        films.ask("?F : stars(F, \ud800)")


def test_limits_end_a_search_with_what_was_found(films: relatum.Engine) -> None:
    stopped = films.ask(TWO_HOPS, known="none", max_rows=1)
    assert stopped.certainty.kind == "stopped" and stopped.certainty.by == "rows"
    assert films.ask(TWO_HOPS, timeout=60, max_rows=10**6).certainty.kind == "exact"


def test_many_threads_get_the_same_answers(films: relatum.Engine) -> None:
    expected = films.ask(TWO_HOPS, new_only=True).to_json()
    found: list[str] = []

    def work() -> None:
        for _ in range(10):
            found.append(films.ask(TWO_HOPS, new_only=True).to_json())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 40


def test_predicted_edges_are_a_frame(films: relatum.Engine) -> None:
    edges = films.predict(relation="has_genre", top=5)
    assert list(edges.columns) == ["head", "relation", "tail", "truth"] and len(edges) == 5
    assert all((row.head, row.relation, row.tail) not in films.graph for row in edges.itertuples())


def test_a_folder_that_is_no_project(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        relatum.open(tmp_path / "nowhere")
    assert isinstance(raised.value, relatum.NotFoundError) and "not a Relatum project" in str(raised.value)
    for wrong in (None, 3, b"x"):
        with pytest.raises(TypeError):
            relatum.open(wrong)
