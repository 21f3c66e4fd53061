"""Rules: mined, shown, read and written; what they say under a predicted edge."""

from __future__ import annotations

import pathlib

import pytest

import relatum

QUESTION = '?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)'


@pytest.fixture(scope="module")
def ruled(films_folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> relatum.Engine:
    """The films with rules of one atom and with constants."""
    import shutil

    folder = tmp_path_factory.mktemp("ruled") / "films"
    shutil.copytree(films_folder, folder)
    engine = relatum.open(folder)
    heard: list[dict] = []
    made = engine.rules.mine(max_length=1, progress=heard.append)
    assert made["finished"] and made["rules"] > 100
    assert {event["stage"] for event in heard} & {"constants", "short", "clusters"}
    return engine


def test_rules_are_shown_with_counts_and_examples(ruled: relatum.Engine) -> None:
    assert ruled.rules.names == ["default"] and repr(ruled.rules) == "<Rules: default>"
    shown = ruled.rules.show("has_genre", top=5)
    assert len(shown) == 5 and shown.attrs["found"] > 5
    assert (shown["correct"] <= shown["predicted"]).all() and shown["confidence"].is_monotonic_decreasing
    about = ruled.rules.show("has_genre", about="Comedy", top=3)
    assert all("Comedy" in rule for rule in about["rule"])


def test_rules_travel_as_text(ruled: relatum.Engine, tmp_path: pathlib.Path) -> None:
    count = ruled.rules.write(tmp_path / "rules.txt")
    lines = (tmp_path / "rules.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == count and len(lines[0].split("\t")) == 4
    by_hand = tmp_path / "by-hand.txt"
    by_hand.write_text('10\t9\t0.9\tstars(X,Y) <= directed_by(X,Y)\n', encoding="utf-8")
    made = ruled.rules.read(by_hand, name="by-hand")
    assert made["rules"] == 1 and "by-hand" in ruled.rules.names
    with pytest.raises(relatum.RelatumError, match="by-hand"):
        ruled.rules.read(by_hand, name="by-hand")
    by_hand.write_text('10\t9\t0.9\thas_gnre(X,Y) <= stars(X,Y)\n', encoding="utf-8")
    with pytest.raises(relatum.RelatumError, match="has_genre"):
        ruled.rules.read(by_hand, name="other")


def test_an_explanation_names_its_rules(ruled: relatum.Engine) -> None:
    answers = ruled.ask(QUESTION, explain=True, new_only=True, evidence="both")
    assert answers.settings.evidence == "both"
    atoms = [atom for answer in answers for atom in answer.explanation.atoms if atom.known is None]
    spoken = [atom for atom in atoms if len(atom.reasons) > 1]
    assert spoken, "some predicted edge has a rule"
    assert spoken[0].reasons[0].startswith("by rules ") and "right for" in spoken[0].reasons[1]
    explanation = next(a.explanation for a in answers if spoken[0] in a.explanation.atoms)
    assert spoken[0].reasons[1] in str(explanation)
    assert "right for" in explanation.to_svg() and "<script" not in explanation.to_svg()


def test_edges_are_measured_with_both_kinds_of_evidence(ruled: relatum.Engine) -> None:
    model = ruled.model()
    alone, both, rules = (model.evaluate("valid", evidence=name)["mrr"]["overall"] for name in ("model", "both", "rules"))
    assert both > alone and rules > 0
    with pytest.raises(ValueError, match="'model', 'rules' or 'both'"):
        model.evaluate("valid", evidence="guess")


def test_bad_arguments_are_refused(ruled: relatum.Engine) -> None:
    with pytest.raises(ValueError, match="max_length"):
        ruled.rules.mine(name="long", max_length=4)
    with pytest.raises(relatum.RelatumError, match="has_genre"):
        ruled.rules.show("has_gnre")
    with pytest.raises(relatum.RelatumError):
        ruled.rules.show("has_genre", name="none")
