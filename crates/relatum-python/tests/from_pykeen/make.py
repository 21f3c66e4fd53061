"""Makes the fixtures beside this script with the real PyKEEN: `python make.py` in an environment that has it.

Each file holds a small model as PyKEEN has it in memory (its tables, the ids of its names, its triples) and the scores
that PyKEEN gives to every tail of some (head, relation) and to every head of some (relation, tail).
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import torch
from pykeen.models import CP, ComplEx, DistMult, RotatE, TransE
from pykeen.triples import TriplesFactory

HERE = pathlib.Path(__file__).parent

#: The name of a fixture, the model, its arguments, whether it learns inverse triples.
CASES = [
    ("complex", ComplEx, {"embedding_dim": 6}, False),
    ("complex-inverse", ComplEx, {"embedding_dim": 6}, True),
    ("distmult", DistMult, {"embedding_dim": 7}, False),
    ("distmult-inverse", DistMult, {"embedding_dim": 7}, True),
    ("transe", TransE, {"embedding_dim": 5, "scoring_fct_norm": 2}, False),
    ("transe-inverse", TransE, {"embedding_dim": 5, "scoring_fct_norm": 2}, True),
    ("transe-squared", TransE, {"embedding_dim": 5, "scoring_fct_norm": 2, "power_norm": True}, False),
    ("rotate", RotatE, {"embedding_dim": 4}, False),
    ("rotate-inverse", RotatE, {"embedding_dim": 4}, True),
    ("cp", CP, {"embedding_dim": 3, "rank": 4}, False),
    ("cp-inverse", CP, {"embedding_dim": 3, "rank": 4}, True),
]


def factory(inverse: bool) -> TriplesFactory:
    names = [f"e{number}" for number in range(9)]
    rows = [
        (names[head], f"r{relation}", names[(head * 2 + relation + 1) % 9])
        for head in range(9)
        for relation in range(3)
    ]
    return TriplesFactory.from_labeled_triples(np.array(rows, dtype=str), create_inverse_triples=inverse)


def made(kind: type, arguments: dict, inverse: bool) -> tuple[torch.nn.Module, TriplesFactory]:
    triples = factory(inverse)
    model = kind(triples_factory=triples, random_seed=7, **arguments)
    with torch.no_grad():
        # Untrained rows of some initialisers are alike; these are not.
        generator = torch.Generator().manual_seed(11)
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    # Brings constrained rows, such as the rotations of RotatE, back to what they must be.
    model.post_parameter_update()
    model.eval()
    return model, triples


def scores(model: torch.nn.Module, triples: TriplesFactory) -> tuple[np.ndarray, np.ndarray]:
    """The scores of all tails of each (head, relation), and of all heads of each (relation, tail)."""
    entities, relations = triples.num_entities, triples.real_num_relations
    pairs = torch.tensor([[head, relation] for head in range(entities) for relation in range(relations)])
    backwards = torch.tensor([[relation, tail] for relation in range(relations) for tail in range(entities)])
    with torch.no_grad():
        tails = model.predict_t(pairs).numpy()
        heads = model.predict_h(backwards).numpy()
    return tails, heads


def array(values: np.ndarray) -> dict:
    values = np.asarray(values)
    if np.iscomplexobj(values):
        return {"re": values.real.astype(float).tolist(), "im": values.imag.astype(float).tolist()}
    return {"re": values.tolist()}


def main() -> None:
    import pykeen.version

    for name, kind, arguments, inverse in CASES:
        model, triples = made(kind, arguments, inverse)
        tails, heads = scores(model, triples)
        interaction = model.interaction
        fixture = {
            "made_with": f"PyKEEN {pykeen.version.get_version()}, PyTorch {torch.__version__}, Python {sys.version.split()[0]}",
            "interaction": type(interaction).__name__,
            "p": getattr(interaction, "p", None),
            "power_norm": bool(getattr(interaction, "power_norm", False)),
            "entities": [array(of(indices=None).detach().numpy()) for of in model.entity_representations],
            "relations": [array(of(indices=None).detach().numpy()) for of in model.relation_representations],
            "entity_to_id": triples.entity_to_id,
            "relation_to_id": triples.relation_to_id,
            "triples": triples.mapped_triples.tolist(),
            "tails": np.round(tails.astype(float), 6).tolist(),
            "heads": np.round(heads.astype(float), 6).tolist(),
        }
        (HERE / f"{name}.json").write_text(json.dumps(fixture) + "\n")
        print(name, tails.shape, heads.shape)


if __name__ == "__main__":
    main()
