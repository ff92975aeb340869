"""Models learn, are saved without code, and score what they know."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from actc.cli.main import commands
from actc.errors import ChoiceError, FileError, OptionError, TableError
from actc.graphs.graph import Graph
from actc.models.embedding_models import EMBEDDINGS, score_all
from actc.models.load_scorer import load_scorer
from actc.models.recipes import Recipe, choose_recipe, list_recipes, load_recipe
from actc.models.saved_model import EmbeddingScorer, load_model, save_model
from actc.models.score_triples import score_triples
from actc.models.train_model import (
    Questions,
    cross_entropy,
    find_device,
    mean_reciprocal_rank,
    train_model,
)


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
    assert train_model(graph, recipe, device="cpu", seconds=1e-9).facts["epochs"] == 1


def test_a_model_that_has_no_room_is_refused_and_a_batch_is_no_more_than_there_is(graph):
    with pytest.raises(OptionError, match="numbers has no room in memory; give a recipe with a smaller dimension"):
        train_model(graph, Recipe("complex", dimension=10**12), device="cpu")
    trained = train_model(graph, Recipe("complex", dimension=4, epochs=1, batch=10**30), device="cpu")
    assert trained.facts["epochs"] == 1


@pytest.mark.parametrize("seconds", [-1.0, 0.0, math.nan])
def test_no_time_to_train_is_refused(seconds, graph):
    with pytest.raises(OptionError, match="--seconds: the time to train must be above 0, not (-1|0|nan)\\."):
        train_model(graph, Recipe("complex", dimension=16), device="cpu", seconds=seconds)


def test_held_out_triples_must_be_new(graph):
    recipe = Recipe("complex", dimension=16, epochs=1)
    with pytest.raises(OptionError, match="--held-out: 3 of the 3 triples are in the graph too"):
        train_model(graph, recipe, held_out=graph.take(np.arange(3)), device="cpu")
    with pytest.raises(OptionError, match="--held-out: there is no triple in it"):
        train_model(graph, recipe, held_out=graph.take(np.arange(0)), device="cpu")


def run_train(folder, lines, *options):
    """Train a tiny model on make_graph() with these held-out lines; return what click says of it."""
    triples = make_graph().columns().values()
    (folder / "graph.tsv").write_text("".join("\t".join(row) + "\n" for row in zip(*triples, strict=True)))
    (folder / "held.tsv").write_text("".join(line + "\n" for line in lines))
    (folder / "recipe.json").write_text(json.dumps({"model": "complex", "dimension": 4, "epochs": 1}))
    paths = [str(folder / name) for name in ("graph.tsv", "held.tsv", "recipe.json", "model")]
    arguments = ["train", paths[0], "--held-out", paths[1], "--recipe", paths[2], "--out", paths[3], *options]
    return CliRunner().invoke(commands, arguments)


def test_the_command_leaves_held_out_triples_of_the_graph_out_and_says_so(tmp_path):
    old, new = "town0.0\tin\tcountry0", "town0.0\ton\tcontinent0"
    result = run_train(tmp_path, [old, new], "--device", "cpu")
    assert result.exit_code == 0
    assert "1 held-out triples are in the graph too and are left out." in result.output
    assert "the graph holds all of these 1 triples" in str(run_train(tmp_path, [old]).exception)


def test_a_device_that_is_not_here_is_refused(trained, graph, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    save_model(trained, tmp_path / "saved")
    recipe = Recipe("complex", dimension=16, epochs=1)
    for name in ("cuda:7", "gpu0", "meta"):
        for use in (
            lambda device: train_model(graph, recipe, device=device),
            lambda device: EmbeddingScorer(trained, device),
            lambda device: load_scorer(tmp_path / "saved", device=device),
        ):
            with pytest.raises(OptionError, match=f"^--device: '{name}' is no device of this machine; leave it out"):
                use(name)
    assert "is no device" in str(run_train(tmp_path, ["a\tb\tc"], "--device", "cuda:7").exception)
    assert (find_device(None), find_device("cpu")) == ("cpu", "cpu")


def test_a_gpu_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device(None) == "cuda"


def test_names_that_the_model_does_not_know_are_refused(trained):
    scorer = EmbeddingScorer(trained, "cpu")
    stranger = Graph.from_columns(["town0.0", "atlantis"], ["in"] * 2, ["country0"] * 2)
    with pytest.raises(TableError, match="does not know 1 of the 3 entities \\('atlantis'\\)"):
        score_triples(scorer, stranger)
    with pytest.raises(TableError, match="knows none of the 2 entities; it was trained on another graph"):
        score_triples(scorer, Graph.from_columns(["x"], ["in"], ["y"]))
    with pytest.raises(TableError, match="knows none of the 1 relations"):
        score_triples(scorer, Graph.from_columns(["town0.0"], ["near"], ["country0"]))


def test_a_folder_without_a_model_is_refused(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(FileError, match="neither `actc train`"):
        load_scorer(tmp_path)
    with pytest.raises(FileError, match="there is no such folder"):
        load_scorer(tmp_path / "none")


def change_json(folder, name, change):
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content))


def change_weights(folder, change):
    weights = torch.load(folder / "weights.pt", weights_only=True)
    torch.save(change(weights), folder / "weights.pt")


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {
    "model.json cut": (lambda f: cut(f / "model.json"), "model.json: .* \\(it is no JSON\\)"),
    "model.json empty": (lambda f: (f / "model.json").write_text(""), "model.json: .* \\(it is no JSON\\)"),
    "model.json binary": (lambda f: (f / "model.json").write_bytes(b"\xff\xfe"), "model.json: .* \\(it is no JSON\\)"),
    "another version": (
        lambda f: change_json(f, "model.json", lambda c: c.update(format_version=2)),
        "model.json: the model has format version 2; this actc reads 1",
    ),
    "no recipe": (lambda f: change_json(f, "model.json", lambda c: c.pop("recipe")), "the recipe in it is not usable"),
    "no facts": (lambda f: change_json(f, "model.json", lambda c: c.pop("facts")), "there are no facts in it"),
    "a stranger's recipe": (
        lambda f: change_json(f, "model.json", lambda c: c["recipe"].update(model="quate")),
        "No model is called 'quate'",
    ),
    "a text as dimension": (
        lambda f: change_json(f, "model.json", lambda c: c["recipe"].update(dimension="32")),
        "dimension must be a whole number, not '32'",
    ),
    "names.json missing": (lambda f: (f / "names.json").unlink(), "names.json: .* \\(the file is missing\\)"),
    "names.json cut": (lambda f: cut(f / "names.json"), "names.json: .* \\(it is no JSON\\)"),
    "names.json a list": (lambda f: (f / "names.json").write_text("[]"), "names.json: .* \\(it is no JSON object\\)"),
    "names are numbers": (
        lambda f: change_json(f, "names.json", lambda c: c.update(relations=[1, 2])),
        "there is no list of relations in it",
    ),
    "equal names": (
        lambda f: change_json(f, "names.json", lambda c: c.update(relations=["in", "in"])),
        "some relations have the same name",
    ),
    "fewer names": (
        lambda f: change_json(f, "names.json", lambda c: c["entities"].pop()),
        "weights.pt: .*the entity weights have shape \\(38, 32\\); names and recipe ask for \\(37, 32\\)",
    ),
    "fewer relations": (
        lambda f: change_json(f, "names.json", lambda c: c["relations"].pop()),
        "the relation weights have shape \\(4, 32\\)",
    ),
    "weights.pt missing": (lambda f: (f / "weights.pt").unlink(), "weights.pt: .* \\(the file is missing\\)"),
    "weights.pt empty": (lambda f: (f / "weights.pt").write_bytes(b""), "weights.pt: .* \\(it cannot be read"),
    "weights.pt cut": (lambda f: cut(f / "weights.pt"), "weights.pt: .* \\(it cannot be read: RuntimeError\\)"),
    "weights.pt nonsense": (lambda f: (f / "weights.pt").write_bytes(b"nonsense"), "weights.pt: .* \\(it cannot be"),
    "weights of no kind": (
        lambda f: change_weights(f, lambda w: list(w)),
        "these are not the weights entity, relation",
    ),
    "weights lacking": (lambda f: change_weights(f, lambda w: {"entity": w["entity"]}), "these are not the weights"),
    "weights no tensor": (
        lambda f: change_weights(f, lambda w: w | {"entity": 1}),
        "the entity weights are no numbers",
    ),
    "weights of another shape": (
        lambda f: change_weights(f, lambda w: w | {"relation": w["relation"][:, :5]}),
        "the relation weights have shape \\(4, 5\\)",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused(damage, trained, tmp_path):
    break_it, sentence = DAMAGES[damage]
    save_model(trained, tmp_path)
    break_it(tmp_path)
    with pytest.raises(FileError, match=sentence):
        load_scorer(tmp_path, device="cpu")


def test_any_damaged_byte_of_the_weights_is_refused_or_does_no_harm(trained, tmp_path):
    save_model(trained, tmp_path)
    path, rng = tmp_path / "weights.pt", np.random.default_rng(0)
    whole = path.read_bytes()
    for place in rng.integers(0, len(whole), 100):
        broken = bytearray(whole)
        broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        try:
            load_model(tmp_path)
        except FileError as error:
            assert "weights.pt: the model is damaged" in str(error)  # noqa: PT017


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
        ({"model": "conve", "dimension": 8}, OptionError, "twice a square"),
        ({"model": "complex", "loss": "hinge"}, ChoiceError, "cross-entropy, binary"),
        ({"model": "complex", "epochs": 0}, OptionError, "above 0"),
        ({"model": "complex", "rate": math.nan}, OptionError, "above 0"),
        ({"model": "complex", "dimension": "4"}, OptionError, "dimension must be a whole number, not '4'"),
        ({"model": "complex", "epochs": True}, OptionError, "epochs must be a whole number, not True"),
        ({"model": "complex", "decay": 1}, OptionError, "decay must be between 0 and 1, not 1"),
        ({"model": "complex", "entity_dropout": 1.5}, OptionError, "entity_dropout must be at least 0 and below 1"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(content, error, sentence, tmp_path):
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(content))
    with pytest.raises(error, match=sentence):
        load_recipe(str(path))
