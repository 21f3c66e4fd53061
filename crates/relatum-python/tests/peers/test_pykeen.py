"""The live comparison: PyKEEN itself trains, and both score. `cargo xtask test python --peers` runs it."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

pytest.importorskip("pykeen", reason="PyKEEN is installed by `cargo xtask test python --peers`")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "from_pykeen"))

import make  # noqa: E402
import torch  # noqa: E402
from pykeen.models import ComplEx, TransE  # noqa: E402
from pykeen.training import SLCWATrainingLoop  # noqa: E402

import relatum  # noqa: E402


@pytest.mark.parametrize(("name", "kind", "arguments", "inverse"), make.CASES, ids=[case[0] for case in make.CASES])
def test_scores_are_those_of_the_package(name: str, kind: type, arguments: dict, inverse: bool) -> None:
    model, triples = make.made(kind, arguments, inverse)
    compare(model, triples)


@pytest.mark.parametrize("inverse", [False, True])
def test_a_trained_model_answers(inverse: bool) -> None:
    torch.manual_seed(3)
    triples = make.factory(inverse)
    model = ComplEx(triples_factory=triples, embedding_dim=8, random_seed=5)
    loop = SLCWATrainingLoop(model=model, triples_factory=triples, optimizer=torch.optim.Adam(model.parameters(), lr=0.05))
    loop.train(triples_factory=triples, num_epochs=5, batch_size=16, use_tqdm=False)
    model.eval()
    ours = compare(model, triples)
    assert ours.ask("?X : exists Y. r0(e1, Y) and r1(Y, X)", explain=True)[0].known is True


def test_the_sum_of_absolute_differences_is_refused() -> None:
    triples = make.factory(False)
    with pytest.raises(ValueError, match="scoring_fct_norm=2"):
        relatum.from_pykeen(TransE(triples_factory=triples, embedding_dim=4, scoring_fct_norm=1), triples)


def compare(model: torch.nn.Module, triples: object) -> relatum.Model:
    ours = relatum.from_pykeen(model, triples)
    tails, heads = make.scores(model, triples)
    entities, relations = triples.num_entities, triples.real_num_relations
    found = [ours.scores(h, r, None) for h in range(entities) for r in range(relations)]
    np.testing.assert_allclose(np.array(found), tails, atol=1e-4)
    found = [ours.scores(None, r, t) for r in range(relations) for t in range(entities)]
    np.testing.assert_allclose(np.array(found), heads, atol=1e-4)
    return ours
