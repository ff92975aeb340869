"""Models learn, are saved without code, and score what they know."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from actc.errors import ChoiceError, FileError, OptionError, TableError
from actc.graph import Graph
from actc.recipes import Recipe, choose_recipe, list_recipes, load_recipe
from actc.score_triples import score_triples

torch = pytest.importorskip("torch")
from actc.embedding_models import EMBEDDINGS, score_all  # noqa: E402
from actc.load_scorer import load_scorer  # noqa: E402
from actc.saved_model import EmbeddingScorer, load_model, save_model  # noqa: E402
from actc.train_model import Questions, cross_entropy, mean_reciprocal_rank, train_model  # noqa: E402


def make_graph() -> Graph:
    """Towns in countries on continents; a town lies on its country's continent, but for one in each country."""
    triples = []
    for country, town in itertools.product(range(6), range(5)):
        triples.append((f"town{country}.{town}", "in", f"country{country}"))
        if town:
            triples.append((f"town{country}.{town}", "on", f"continent{country % 2}"))
    return Graph.from_columns(*zip(*triples, strict=True))


@pytest.fixture(scope="module")
def graph():
    return make_graph()


@pytest.fixture(scope="module")
def trained(graph):
    return train_model(graph, Recipe("complex", dimension=32, epochs=60, batch=32, rate=0.1), device="cpu")


def new_facts(graph, right):
    names = [(f"town{c}.0", "on", f"continent{c % 2 if right else 1 - c % 2}") for c in range(6)]
    return Graph.from_columns(*zip(*names, strict=True))


@pytest.mark.parametrize("model", sorted(EMBEDDINGS))
def test_every_model_learns_what_follows_from_the_graph(model, graph):
    size = {"conve": 72, "rescal": 16, "tucker": 16}.get(model, 32)
    recipe = replace(load_recipe(f"{model}_small"), dimension=size, batch=16, epochs=40, start="xavier-normal")
    scorer = EmbeddingScorer(train_model(graph, recipe, device="cpu"), "cpu")
    right, wrong = (score_triples(scorer, new_facts(graph, which)).scores for which in (True, False))
    assert (right > wrong).mean() > 0.8


def test_the_same_seed_gives_the_same_model(graph):
    recipe = Recipe("transe", dimension=8, epochs=2, batch=16)
    first, second = (train_model(graph, recipe, device="cpu", seed=3).weights["entity"] for _ in range(2))
    assert torch.equal(first, second)


def test_a_saved_model_scores_as_before_and_needs_no_pickle(trained, graph, tmp_path):
    save_model(trained, tmp_path / "model")
    again = score_triples(load_scorer(tmp_path / "model", device="cpu"), graph)
    assert np.array_equal(again.scores, score_triples(EmbeddingScorer(trained, "cpu"), graph).scores)


def test_a_triple_scores_the_mean_of_both_questions(trained, graph):
    scorer = EmbeddingScorer(trained, "cpu")
    head, relation, tail = graph.heads[:1], graph.relations[:1], graph.tails[:1]
    forth = scorer.answers(head, relation, heads=False)[0, tail[0]]
    back = scorer.answers(tail, relation, heads=True)[0, head[0]]
    assert scorer.score(head, relation, tail)[0] == pytest.approx((forth + back) / 2, rel=1e-4)


def test_merged_questions_have_all_their_answers(graph):
    questions = Questions.of(graph, "cpu", merge=True)
    place, answers = questions.right(torch.arange(len(questions)))
    found = {
        (int(questions.known[i]), int(questions.relations[i]), int(answer))
        for i, answer in zip(place.tolist(), answers.tolist(), strict=True)
    }
    count = len(graph.relation_names)
    forth = set(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))
    back = {(tail, relation + count, head) for head, relation, tail in forth}
    assert found == forth | back


def test_the_loss_is_that_of_torch():
    scores = torch.randn(4, 7)
    answers = torch.tensor([1, 2, 3, 4])
    wanted = torch.nn.functional.cross_entropy(scores, answers, label_smoothing=0.1)
    assert torch.allclose(cross_entropy(scores, torch.arange(4), answers, 0.1), wanted)


def test_the_filtered_rank_is_what_counting_gives(trained, graph):
    held_out = new_facts(graph, True).recoded(graph.entity_names, graph.relation_names)
    asked, known = Questions.of(held_out, "cpu", merge=False), Questions.of(graph, "cpu", merge=True)
    kind, weights = EMBEDDINGS["complex"], trained.weights
    facts = set(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))
    ranks = []
    for head, relation, tail in zip(held_out.heads, held_out.relations, held_out.tails, strict=True):
        for known_end, code, missing in ((head, relation, tail), (tail, relation + 2, head)):
            scores = score_all(kind, weights, torch.tensor([known_end]), torch.tensor([code]))[0]
            rivals = range(len(graph.entity_names))
            is_fact = (
                (lambda e: (e, relation, tail) in facts) if code >= 2 else (lambda e: (head, relation, e) in facts)
            )
            ranks.append(1 + sum(bool(scores[e] > scores[missing]) for e in rivals if not is_fact(e)))
    assert mean_reciprocal_rank(kind, weights, asked, known) == pytest.approx(np.mean(1 / np.array(ranks)))


def test_held_out_triples_decide_which_weights_are_kept(graph):
    held_out = new_facts(graph, True).recoded(graph.entity_names, graph.relation_names)
    recipe = Recipe("complex", dimension=16, epochs=30, batch=16, rate=0.1)
    facts = train_model(graph, recipe, held_out=held_out, device="cpu").facts
    assert 0 < facts["held_out_mrr"] <= 1
    assert facts["best_epoch"] <= facts["epochs"] <= 30


def test_time_ends_the_training(graph):
    recipe = Recipe("complex", dimension=16, epochs=10_000)
    assert train_model(graph, recipe, device="cpu", seconds=0.0).facts["epochs"] == 1


def test_names_that_the_model_does_not_know_are_refused(trained):
    scorer = EmbeddingScorer(trained, "cpu")
    stranger = Graph.from_columns(["town0.0", "atlantis"], ["in"] * 2, ["country0"] * 2)
    with pytest.raises(TableError, match="does not know 1 of the 3 entities \\('atlantis'\\)"):
        score_triples(scorer, stranger)
    with pytest.raises(TableError, match="knows none of the 2 entities; it was trained on another graph"):
        score_triples(scorer, Graph.from_columns(["x"], ["in"], ["y"]))
    with pytest.raises(TableError, match="knows none of the 1 relations"):
        score_triples(scorer, Graph.from_columns(["town0.0"], ["near"], ["country0"]))


def test_a_damaged_model_is_refused(trained, tmp_path):
    save_model(trained, tmp_path)
    (tmp_path / "weights.pt").write_bytes(b"nonsense")
    with pytest.raises(FileError, match="the model is damaged"):
        load_model(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(FileError, match="neither `actc train`"):
        load_scorer(tmp_path)
    with pytest.raises(FileError, match="there is no such folder"):
        load_scorer(tmp_path / "none")


@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_that_comes_along_is_sound(name):
    recipe = load_recipe(name)
    assert name.split("_")[0] == recipe.model
    assert recipe.model in EMBEDDINGS


def test_the_recipe_fits_the_machine_and_the_graph():
    assert choose_recipe("complex", 100, "cpu") == "complex_small"
    assert choose_recipe("conve", 30_000, "cuda") == "conve_codex-s"
    assert choose_recipe("conve", 300_000, "cuda") == "conve_codex-m"
    with pytest.raises(ChoiceError, match="Did you mean 'complex'"):
        choose_recipe("komplex", 100, "cpu")


@pytest.mark.parametrize(
    ("content", "error", "sentence"),
    [
        ({"model": "complex", "dimention": 4}, ChoiceError, "Did you mean 'dimension'"),
        ({"dimension": 4}, FileError, "names at least its model"),
        ({"model": "complex", "dimension": 3}, OptionError, "even dimension"),
        ({"model": "conve", "dimension": 64}, OptionError, "twice a square"),
        ({"model": "complex", "loss": "hinge"}, ChoiceError, "cross-entropy, binary"),
        ({"model": "complex", "epochs": 0}, OptionError, "above 0"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(content, error, sentence, tmp_path):
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(content))
    with pytest.raises(error, match=sentence):
        load_recipe(str(path))
