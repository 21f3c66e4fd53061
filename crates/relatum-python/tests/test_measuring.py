"""Benchmarks as frames and figures."""

from __future__ import annotations

import pathlib
import xml.dom.minidom

import pytest

import relatum


@pytest.fixture(scope="module")
def sampled(films_folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> relatum.Engine:
    import shutil

    folder = tmp_path_factory.mktemp("sampled") / "films"
    shutil.copytree(films_folder, folder)
    engine = relatum.open(folder)
    frame = engine.sample(["1p", "2p", "2i"], count=12, seed=4, examples=2)
    assert set(frame["type"]) == {"1p", "2p", "2i"} and set(frame["split"]) == {"valid", "test"}
    assert (frame["queries"] > 0).all() and (frame["hard_answers"] >= frame["queries"]).all()
    assert frame["examples"][0][0]["question"].startswith("?")
    return engine


def test_sampling_refuses_to_lose_queries(sampled: relatum.Engine) -> None:
    with pytest.raises(relatum.MisuseError, match="already"):
        sampled.sample(["3p"], count=3)
    added = sampled.sample(["2u"], count=3, existing="keep", seed=1)
    assert set(added["type"]) == {"2u"} and sampled.graph.stats()["queries"]["test"]["2p"] == 12
    missing = sampled.sample(["4i", "4p"], count=3, existing="keep", all_missing=True)
    assert set(missing["type"]) == {"4i", "4p"} and (missing["easy_answers"] >= 0).all()
    for options, expected in [
        ({"types": "2p"}, TypeError),
        ({"types": ["2in"], "all_missing": True, "existing": "keep"}, relatum.MisuseError),
        ({"types": ["3p"], "all_missing": "yes"}, TypeError),
        ({"types": ["9z"]}, relatum.RelatumError),
        ({"types": ["3p"], "count": -1}, ValueError),
        ({"types": ["3p"], "count": "x"}, TypeError),
        ({"types": ["3p"], "existing": "burn"}, ValueError),
        ({"types": ["3p"], "split": "all"}, ValueError),
    ]:
        with pytest.raises(expected):
            sampled.sample(**options)


def test_tuning_is_a_frame_and_asking_uses_it(sampled: relatum.Engine) -> None:
    events: list[str] = []
    tuned = sampled.tune(types=["2p"], queries=6, progress=lambda event: events.append(event["event"]))
    assert (tuned["queries"] == 6).all() and (tuned["standard_error"] >= 0).all()
    assert set(tuned["type"]) == {"2p"} and tuned["chosen"].sum() == 1 and len(tuned) > 1
    assert events[0] == "tuning" and events[-1] == "tuned"
    answers = sampled.ask('?G : exists F. stars(F, "Will Smith") and has_genre(F, G)')
    assert answers.settings.tuned_for == "2p"
    assert sampled.models.set_index("name").loc["default", "tuned_types"] == 1


def test_benchmarks_have_frames_and_figures(sampled: relatum.Engine, tmp_path: pathlib.Path) -> None:
    found = sampled.benchmark(
        settings=["exact k=32 product softmax-count train", "paper k=4 godel sigmoid none"],
        types=["1p", "2p"],
        limit=6,
        by_missing_links=True,
    )
    frame = found.to_pandas()
    assert len(frame) == 4 and set(frame["type"]) == {"1p", "2p"} and (frame["count"] == 6).all()
    table = found.table()
    assert list(table.columns) == ["mean", "1p", "2p"] and len(table) == 2
    assert found.table("mrr").iloc[0]["mean"] == pytest.approx(
        frame[frame["method"] == table.index[0]]["mrr"].mean(), abs=1e-9
    )
    assert not found.by_missing_links().empty and found.notes and "2p" in str(found) and "2p" in found.to_csv()
    for figure in (found.accuracy(), found.time(), found.accuracy_by_k()):
        assert isinstance(figure, relatum.Figure)
        xml.dom.minidom.parseString(figure.svg)
        assert "<script" not in figure.svg
    assert found.accuracy_by_rank() is None
    found.accuracy().save(tmp_path / "accuracy.svg")
    assert (tmp_path / "accuracy.svg").read_text() == found.accuracy().svg
    with pytest.raises(ValueError):
        found.accuracy().save(tmp_path / "accuracy.png")
    with pytest.raises(ValueError):
        found.table("beauty")
    assert found._repr_html_()


def test_wrong_benchmarks_raise_what_they_should(sampled: relatum.Engine, small: relatum.Graph) -> None:
    for options, expected in [
        ({"settings": ["nonsense"]}, ValueError),
        ({"families": ["magic"]}, ValueError),
        ({"types": ["9z"]}, relatum.MisuseError),
        ({"limit": "x"}, TypeError),
        ({"model": "nowhere"}, relatum.NotFoundError),
    ]:
        with pytest.raises(expected):
            sampled.benchmark(**options)
    relatum.train(small, rank=2, epochs=1, progress=False)
    with pytest.raises(relatum.MisuseError):
        small.engine.benchmark()
    with pytest.raises(relatum.MisuseError):
        small.engine.sample(["1p"])
