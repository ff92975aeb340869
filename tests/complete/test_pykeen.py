"""The PyKEEN adapter, with PyKEEN itself."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shutil

import numpy as np
import pytest
import torch

from actc.complete.pykeen import find_unseen, from_pykeen, from_result, load_result, save_weights
from actc.complete.pykeen import score_triples as score_with_result
from actc.complete.search import CandidateSearch, collect_candidates, score_triples
from actc.errors import ActcError, FileError, OptionError
from actc.graph.graph import Graph
from tests.complete.small_graph import make_graph, run_pipeline

pytestmark = pytest.mark.filterwarnings("ignore")  # PyKEEN's own, of which there are many


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


@pytest.mark.parametrize("named", [True, False])  # the result knows its model
def test_weights_go_into_any_folder_and_are_read_without_trust(result, tmp_path, named):
    folder = tmp_path / "new" / "folder"
    if named:
        result.save_to_directory(folder, save_replicates=False)
        save_weights(result, folder, "DistMult", {"embedding_dim": 8})
    else:
        save_weights(result, folder)
    config = json.loads((folder / "model_config.json").read_text())
    assert (config["model"], config["model_kwargs"]["embedding_dim"]) == ("DistMult", 8)
    again = score_triples(load_result(folder), make_graph())
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


def pickled(thing):
    """Return what torch writes of a thing."""
    file = io.BytesIO()
    torch.save(thing, file)
    return file.getvalue()


GONE, CUT = "gone", "cut in half"
DAMAGED = "the model is damaged"
NAMES = "training_triples/entity_to_id.tsv.gz"
# A file, what is in it instead, and what is said.
OF_ALL = [
    (NAMES, GONE, "entity_to_id.tsv.gz: the names are missing"),
    *(
        (NAMES, content, DAMAGED)
        for content in (CUT, b"id\tlabel\n", gzip.compress(b"", mtime=0), gzip.compress(b"id\n0\n", mtime=0))
    ),
]
PICKLE = "trained_model.pkl"
OF_PICKLES = [
    (PICKLE, GONE, "there is no PyKEEN result"),
    *((PICKLE, content, DAMAGED) for content in (CUT, b"", b"hello", pickle.dumps([1]))),
    (PICKLE, pickled([1]), "there is a list in it, and no PyKEEN model"),
    (NAMES, gzip.compress(b"id\tlabel\n0\ta\n", mtime=0), ": The model has 38 entities"),
]
CONFIG, STATE, TRIPLES = "model_config.json", "model_state.pt", "training_triples/numeric_triples.tsv.gz"
OTHER_OPTIONS = b'{"model": "DistMult", "model_kwargs": {"size": 1}, "inverse": false}'
OF_WEIGHTS = [
    *((CONFIG, content, DAMAGED) for content in (CUT, b"[]", b'{"inverse": false}', OTHER_OPTIONS)),
    (CONFIG, GONE, "model_state.pt is of no use without model_conf"),
    *((STATE, content, DAMAGED) for content in (CUT, pickled([1]))),
    (STATE, pickled({"x": torch.zeros(1)}), r"\(the weights are not those of the model in model_config.json\)"),
    (TRIPLES, GONE, r"\(the file is missing\)"),
    (TRIPLES, CUT, DAMAGED),
]


@pytest.mark.parametrize(
    ("trust", "name", "content", "sentence"),
    [*((True, *case) for case in (*OF_ALL, *OF_PICKLES)), *((False, *case) for case in (*OF_ALL, *OF_WEIGHTS))],
)
def test_a_damaged_model_is_refused_with_the_file_that_is(folder, result, tmp_path, trust, name, content, sentence):
    if trust:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    else:
        save_weights(result, tmp_path)
    path = tmp_path / name
    if content == GONE:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content == CUT else content)
    with pytest.raises(FileError, match=f"{path.name}.*{sentence}" if sentence == DAMAGED else sentence):
        load_result(tmp_path, trust=trust)


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
