"""Models from strangers: no code of theirs is run, and no model of theirs is silently of no use."""

from __future__ import annotations

import gzip
import json

import pytest
import torch

from actc.complete.pykeen import load_result
from actc.errors import FileError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore")  # PyKEEN's own, of which there are many


@pytest.fixture
def strangers(tmp_path):
    """Return a function that writes a folder with weights, and a model_config.json as a stranger may have made it."""
    (tmp_path / "training_triples").mkdir()
    tables = {"entity_to_id": "0\ta\n1\tb\n", "relation_to_id": "0\tr\n", "numeric_triples": "0\t0\t1\n"}
    for name, rows in tables.items():
        head = "head\trelation\ttail\n" if name == "numeric_triples" else "id\tlabel\n"
        with gzip.open(tmp_path / "training_triples" / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write(head + rows)

    def write(model, weights=None, **options):
        torch.save({} if weights is None else weights, tmp_path / "model_state.pt")
        config = {"model": model, "model_kwargs": options, "inverse": False}
        (tmp_path / "model_config.json").write_text(json.dumps(config))
        return tmp_path

    return write


POOL = {"tokenizers": "PrecomputedPool", "tokenizers_kwargs": {"url": "http://localhost:9/pool.pkl"}}


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("NodePiece", POOL),
        ("NodePiece", {}),
        ("CompGCN", {}),
        ("DistMult", {"entity_initializer": "PretrainedInitializer", "entity_initializer_kwargs": {"tensor": 1}}),
        ("DistMult", {"entity_representations": "WikidataText"}),
        ("DistMult", {"loss": "../../evil"}),
        ("DistMult", {"embedding_dim": [8]}),
    ],
)
def test_a_model_beyond_the_plain_ones_needs_trust(strangers, model, options):
    with pytest.raises(OptionError, match="--trust"):
        load_result(strangers(model, **options))


def test_plain_models_with_plain_options_need_no_trust(strangers):
    folder = strangers("DistMult", embedding_dim=4, entity_initializer="xavier_uniform", loss="nssa")
    with pytest.raises(FileError, match="the weights are not those of the model"):  # it got as far as the weights
        load_result(folder)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_of_pykeen_that_are_no_numbers_are_refused(strangers, bad):
    from pykeen.models import DistMult
    from pykeen.triples import TriplesFactory

    factory = TriplesFactory(torch.tensor([[0, 0, 1]]), {"a": 0, "b": 1}, {"r": 0})
    state = DistMult(triples_factory=factory, embedding_dim=4).state_dict()
    state["entity_representations.0._embeddings.weight"][1, 2] = bad
    with pytest.raises(FileError, match="the weights are not all finite numbers"):
        load_result(strangers("DistMult", state, embedding_dim=4))
