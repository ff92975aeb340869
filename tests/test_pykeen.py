"""The PyKEEN adapter, with PyKEEN itself."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from actc.errors import FileError, OptionError
from actc.score_triples import score_triples
from tests.test_train_model import make_graph

pytest.importorskip("pykeen")
torch = pytest.importorskip("torch")
from actc.adapters.pykeen import PykeenScorer, from_model, from_result, load_result, save_weights  # noqa: E402
from actc.load_scorer import load_scorer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # PyKEEN's own, of which there are many
OPTIONS = {"embedding_dim": 8}


@pytest.fixture(scope="module")
def result():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pykeen.pipeline import pipeline
        from pykeen.triples import TriplesFactory

        graph = make_graph()
        labels = np.column_stack(list(graph.columns().values())).astype(str)
        factory = TriplesFactory.from_labeled_triples(labels)
        gc.freeze()  # PyKEEN collects garbage after every epoch; this way there is little of it
        try:
            return pipeline(
                training=factory,
                testing=factory,
                model="DistMult",
                model_kwargs=OPTIONS,
                epochs=3,
                random_seed=0,
                device="cpu",
                training_kwargs={"use_tqdm": False},
                evaluation_kwargs={"use_tqdm": False},
            )
        finally:
            gc.unfreeze()


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pykeen")
    result.save_to_directory(folder)
    return folder


def test_scores_are_those_of_the_model_name_by_name(result):
    graph = make_graph()
    scored = score_triples(from_result(result), graph)
    entity, relation = result.training.entity_to_id, result.training.relation_to_id
    for row in (0, 7, len(graph) - 1):
        head, kind, tail = scored.triple(row)
        codes = torch.tensor([[entity[head], relation[kind], entity[tail]]])
        assert scored.scores[row] == pytest.approx(float(result.model.predict_hrt(codes)))


def test_answers_agree_with_scores(result):
    scorer = from_result(result)
    codes = make_graph().recoded(scorer.entity_names, scorer.relation_names)
    heads, relations, tails = codes.heads[:4], codes.relations[:4], codes.tails[:4]
    scores = scorer.score(heads, relations, tails)
    assert scorer.answers(heads, relations, heads=False)[np.arange(4), tails] == pytest.approx(scores, rel=1e-5)
    assert scorer.answers(tails, relations, heads=True)[np.arange(4), heads] == pytest.approx(scores, rel=1e-5)


def test_a_pickle_is_read_only_if_trusted(result, folder):
    with pytest.raises(OptionError, match="say so with --trust"):
        load_result(folder)
    again = score_triples(load_scorer(folder, trust=True, device="cpu"), make_graph())
    assert np.array_equal(again.scores, score_triples(from_result(result), make_graph()).scores)


def test_weights_are_read_without_trust(result, tmp_path):
    result.save_to_directory(tmp_path, save_replicates=False)
    save_weights(result, tmp_path, "DistMult", OPTIONS)
    again = score_triples(load_scorer(tmp_path, device="cpu"), make_graph())
    assert np.array_equal(again.scores, score_triples(from_result(result), make_graph()).scores)


def test_a_folder_without_names_or_without_a_model_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match="there is no PyKEEN result"):
        load_result(tmp_path)


def test_a_factory_without_names_is_refused(result):
    class Nameless:
        pass

    with pytest.raises(OptionError, match="has no names"):
        from_model(result.model, Nameless())


def test_names_that_do_not_match_the_model_are_refused(result):
    with pytest.raises(FileError, match="The model has 38 entities and 2 relations, but there are names of 1 and 1"):
        PykeenScorer(result.model, ("a",), ("r",))
