"""Formulas of Python are the text syntax, and the same query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relatum
from relatum import V, exists, rel


def test_it_reads_like_the_paper() -> None:
    graph = relatum.Graph([("d", "interacts", "p"), ("p", "assoc", "t1"), ("p", "assoc", "t2"), ("d", "treats", "t3")])
    D, P = V("D P")
    q = rel.interacts(D, P) & (rel.assoc(P, "t1") | rel.assoc(P, "t2")) & ~rel.treats(D, "t3")
    text = "?D : exists P. interacts(D, P) and (assoc(P, t1) or assoc(P, t2)) and not treats(D, t3)"
    assert str(q.ask_for(D)) == text
    assert graph.engine.check(q, target=D)["question"] == text
    assert graph.engine.check(q, target=D)["normal_form"] == graph.engine.check(text)["normal_form"]


def test_asking_with_a_formula(films: relatum.Engine) -> None:
    F, G = V("F", "G")
    q = rel.stars(F, "Martin Lawrence") & rel.has_genre(F, G)
    text = films.ask('?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)')
    assert films.ask(q, target=G).to_json() == text.to_json()
    assert films.ask(q, target="G") == text
    assert films.ask([q, q], target=G) == [text, text]
    assert films.ask(rel.stars("Bad Boys (1995)", "Will Smith")).truth is not None
    assert films.plan(q, target=G).to_dict() == films.plan(text.query).to_dict()


def test_names_are_quoted_where_they_must_be() -> None:
    P, X = V("P X")
    q = rel["has genre"](X, "P") & rel.r(X, P) & rel.r(X, 'say "hi"\\') & rel["and"](X, "not")
    assert str(q) == '"has genre"(X, "P") and r(X, P) and r(X, "say \\"hi\\"\\\\") and "and"(X, "not")'


def test_negated_sub_queries_have_their_own_exists() -> None:
    D, P = V("D P")
    q = rel.r(D, "a") & ~exists(P, rel.s(D, P))
    assert str(q.ask_for(D)) == "?D : r(D, a) and not (exists P. s(D, P))"
    graph = relatum.Graph([("d", "r", "a"), ("d", "s", "p"), ("e", "r", "a")])
    assert graph.engine.check(q, target=D)["answerable"]


def test_connectives_of_python_are_refused() -> None:
    X = V("X")
    with pytest.raises(TypeError, match="&"):
        rel.r(X, "a") and rel.r(X, "b")
    with pytest.raises(TypeError):
        not rel.r(X, "a")
    with pytest.raises(TypeError):
        rel.r(X, "a") & "b"
    with pytest.raises(TypeError):
        rel.r(X, 3)
    with pytest.raises(TypeError):
        rel.r(X)
    with pytest.raises(ValueError):
        V("")
    with pytest.raises(ValueError):
        V("not")
    with pytest.raises(ValueError):
        V("a-b")
    with pytest.raises(TypeError):
        V(3)
    with pytest.raises(ValueError):
        rel.r(X, "a").ask_for(V("Y"))
    with pytest.raises(TypeError):
        exists("X", rel.r(X, "a"))


def test_a_formula_needs_its_target_and_a_text_has_none(films: relatum.Engine) -> None:
    F = V("F")
    with pytest.raises(TypeError, match="target"):
        films.ask(rel.stars(F, "Will Smith"))
    with pytest.raises(TypeError, match="target"):
        films.ask("?F : stars(F, X)", target=F)


NAMES = ["a", "b", "not", "X", "has genre", 'q"t', "é", "\\", "exists", "Y1", "?x", "1"]
VARIABLES = [relatum.Variable(name) for name in ("X", "Y", "Z")]
ATOMS = st.builds(
    lambda relation, subject, object_: rel[relation](subject, object_),
    st.sampled_from(["r", "has genre", "or", "X"]),
    st.sampled_from(VARIABLES) | st.sampled_from(NAMES),
    st.sampled_from(VARIABLES) | st.sampled_from(NAMES),
)
FORMULAS = st.recursive(
    ATOMS, lambda inner: st.tuples(inner, inner).map(lambda two: two[0] & two[1])
    | st.tuples(inner, inner).map(lambda two: two[0] | two[1])
    | inner.map(lambda one: ~one), max_leaves=6,
)
WORLD = relatum.Graph([(name, relation, name) for name in NAMES for relation in ("r", "has genre", "or", "X")])


@settings(deadline=None, max_examples=150)
@given(FORMULAS)
def test_every_formula_is_understood_as_it_was_meant(formula: relatum.Formula) -> None:
    X = VARIABLES[0]
    if X not in set(formula._free()):
        return
    text = str(formula.ask_for(X))
    checked = WORLD.engine.check(text)
    mistakes = [diagnostic["message"] for diagnostic in checked["diagnostics"] if diagnostic["severity"] == "error"]
    # What the engine refuses is what no question may be; never a name or a word that was written wrongly.
    assert not [m for m in mistakes if m.startswith(("expected", "there is no"))], (text, mistakes)
    if checked["answerable"]:
        assert WORLD.engine.check(checked["question"])["question"] == checked["question"]
