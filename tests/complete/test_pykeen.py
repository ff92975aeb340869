"""The PyKEEN adapter, with PyKEEN itself."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil

import numpy as np
import pytest
import torch

from actc import Calibrator
from actc.complete.pykeen import (
    PykeenScorer,
    find_unseen,
    from_pykeen,
    from_result,
    load_result,
    save_weights,
)
from actc.complete.pykeen import score_triples as score_with_result
from actc.complete.search import CandidateSearch, collect_candidates, score_triples
from actc.data.answers import Annotations
from actc.errors import ActcError, FileError, OptionError
from actc.graph.graph import Graph
from tests.complete.small_graph import make_graph, run_pipeline

pytestmark = pytest.mark.filterwarnings("ignore")  # PyKEEN's own, of which there are many
OPTIONS = {"embedding_dim": 8}


@pytest.fixture(scope="module")
def result():
    return run_pipeline(make_graph())


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
    again = score_triples(load_result(folder, trust=True), make_graph())
    assert np.array_equal(again.scores, score_triples(from_result(result), make_graph()).scores)


def test_weights_are_read_without_trust(result, tmp_path):
    result.save_to_directory(tmp_path, save_replicates=False)
    save_weights(result, tmp_path, "DistMult", OPTIONS)
    again = score_triples(load_result(tmp_path), make_graph())
    assert np.array_equal(again.scores, score_triples(from_result(result), make_graph()).scores)


def test_weights_go_into_a_new_folder_and_the_result_knows_the_model(result, tmp_path):
    save_weights(result, tmp_path / "new" / "folder")
    config = json.loads((tmp_path / "new" / "folder" / "model_config.json").read_text())
    assert config["model"] == "DistMult"
    assert config["model_kwargs"]["embedding_dim"] == 8
    again = score_triples(load_result(tmp_path / "new" / "folder"), make_graph())
    assert np.array_equal(again.scores, score_triples(from_result(result), make_graph()).scores)


class Trap:
    """A pickle of it makes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_no_pickle_is_read_without_trust(result, tmp_path):
    save_weights(result, tmp_path)
    sprung = tmp_path / "sprung"
    for path in [tmp_path / "training_triples" / "base.pth", tmp_path / "trained_model.pkl"]:
        torch.save(Trap(sprung), path)
    load_result(tmp_path)
    torch.save(Trap(sprung), tmp_path / "model_state.pt")
    with pytest.raises(FileError, match="model_state.pt: the model is damaged"):
        load_result(tmp_path)
    assert not sprung.exists()


def write_gzip(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


NAMES, TRIPLES = "training_triples/entity_to_id.tsv.gz", "training_triples/numeric_triples.tsv.gz"
DAMAGES = {
    "names missing": (lambda f: (f / NAMES).unlink(), "entity_to_id.tsv.gz: the names are missing"),
    "names cut": (lambda f: cut(f / NAMES), "entity_to_id.tsv.gz: the model is damaged"),
    "names no gzip": (lambda f: (f / NAMES).write_text("id\tlabel\n"), "entity_to_id.tsv.gz: the model is damaged"),
    "names empty": (lambda f: write_gzip(f / NAMES, ""), "entity_to_id.tsv.gz: the model is damaged"),
    "names of one column": (lambda f: write_gzip(f / NAMES, "id\n0\n"), "entity_to_id.tsv.gz: the model is damaged"),
}
OF_PICKLES = {
    "cut": (lambda f: cut(f / "trained_model.pkl"), "trained_model.pkl: the model is damaged"),
    "empty": (lambda f: (f / "trained_model.pkl").write_bytes(b""), "trained_model.pkl: the model is damaged"),
    "text": (lambda f: (f / "trained_model.pkl").write_text("hello"), "trained_model.pkl: the model is damaged"),
    "no tensors": (
        lambda f: (f / "trained_model.pkl").write_bytes(pickle.dumps([1])),
        "trained_model.pkl: the model is damaged",
    ),
    "no model": (lambda f: torch.save([1], f / "trained_model.pkl"), "there is a list in it, and no PyKEEN model"),
    "fewer names": (lambda f: write_gzip(f / NAMES, "id\tlabel\n0\ta\n"), ": The model has 38 entities"),
}
OF_WEIGHTS = {
    "config cut": (lambda f: cut(f / "model_config.json"), "model_config.json: the model is damaged"),
    "config a list": (lambda f: (f / "model_config.json").write_text("[]"), "model_config.json: the model is damaged"),
    "config without a model": (
        lambda f: (f / "model_config.json").write_text('{"inverse": false}'),
        "model_config.json: the model is damaged",
    ),
    "config with other options": (
        lambda f: (f / "model_config.json").write_text(
            '{"model": "DistMult", "model_kwargs": {"size": 1}, "inverse": false}'
        ),
        "model_config.json: the model is damaged",
    ),
    "config missing": (lambda f: (f / "model_config.json").unlink(), "model_state.pt is of no use without model_conf"),
    "weights cut": (lambda f: cut(f / "model_state.pt"), "model_state.pt: the model is damaged"),
    "weights of another": (
        lambda f: torch.save({"x": torch.zeros(1)}, f / "model_state.pt"),
        "model_state.pt: the model is damaged \\(the weights are not those of the model in model_config.json\\)",
    ),
    "weights no dictionary": (lambda f: torch.save([1], f / "model_state.pt"), "model_state.pt: the model is damaged"),
    "triples missing": (lambda f: (f / TRIPLES).unlink(), "numeric_triples.tsv.gz: .* \\(the file is missing\\)"),
    "triples cut": (lambda f: cut(f / TRIPLES), "numeric_triples.tsv.gz: the model is damaged"),
}


@pytest.mark.parametrize("damage", [*DAMAGES, *OF_PICKLES])
def test_a_damaged_pickle_is_refused(damage, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    break_it, sentence = {**DAMAGES, **OF_PICKLES}[damage]
    break_it(tmp_path / "copy")
    with pytest.raises(FileError, match=sentence):
        load_result(tmp_path / "copy", trust=True)


@pytest.mark.parametrize("damage", [*DAMAGES, *OF_WEIGHTS])
def test_damaged_weights_are_refused(damage, result, tmp_path):
    save_weights(result, tmp_path)
    break_it, sentence = {**DAMAGES, **OF_WEIGHTS}[damage]
    break_it(tmp_path)
    with pytest.raises(FileError, match=sentence):
        load_result(tmp_path)


def test_a_folder_without_names_or_without_a_model_is_refused(folder, tmp_path):
    with pytest.raises(FileError, match="there is no PyKEEN result"):
        load_result(tmp_path)


def test_names_that_do_not_match_the_model_are_refused(result):
    with pytest.raises(FileError, match="The model has 38 entities and 2 relations, but there are names of 1 and 1"):
        PykeenScorer(result.model, ("a",), ("r",))


def test_a_result_and_a_few_answers_give_accepted_triples_in_three_lines(result):
    pool = score_with_result(result, result.training)
    calibrator = Calibrator("pooled").fit(pool, Annotations(np.arange(6), np.arange(6) % 2 == 0))
    accepted = pool.take(calibrator.predict(pool)).to_frame()
    rows = {(*pool.triple(row), score) for row, score in enumerate(pool.scores)}
    assert set(accepted.itertuples(index=False, name=None)) <= rows


def test_a_result_scores_a_factory_and_names_alike_each_triple_once(result):
    names = result.training.triples
    pool, again = score_with_result(result, result.training), score_with_result(result, np.vstack([names, names]))
    assert len(pool) == len(again) == len(names)
    assert again.scores[again.rows_of(pool)] == pytest.approx(pool.scores)
    scorer = from_result(result)
    codes = pool.recoded(scorer.entity_names, scorer.relation_names)
    assert scorer.score(codes.heads, codes.relations, codes.tails) == pytest.approx(pool.scores)
    with pytest.raises(ActcError, match=r"not an array of shape \(3,\)"):
        score_with_result(result, ["a", "r", "b"])


def test_facts_beside_the_training_triples_are_held_ones(folder):
    graph = make_graph()
    more = [("town0.0", "on", "continent0"), ("town1.0", "on", "continent1"), ("x", "y", "z")]
    held = find_unseen(folder, Graph.of(graph.union(Graph.from_columns(*zip(*more, strict=True)))))
    assert {held.triple(row) for row in range(len(held))} == set(more[:2])
    assert not len(find_unseen(folder, graph))


def test_proposals_are_those_that_the_command_writes(result, tmp_path):
    proposed = from_pykeen(result, best=2)
    written = collect_candidates(CandidateSearch(from_result(result), make_graph(), 2), tmp_path / "parts")
    assert len(proposed) == len(written)
    assert proposed.scores[proposed.rows_of(written)] == pytest.approx(written.scores)
    assert (np.diff(proposed.scores) <= 0).all()
    assert not make_graph().contains(proposed).any()


def test_known_facts_are_not_proposed(result):
    graph = make_graph()
    first = from_pykeen(result, best=1)
    known = np.concatenate([np.column_stack(list(table.columns().values())) for table in (graph, first)])
    assert not first.contains(from_pykeen(result, best=1, known=known)).any()
