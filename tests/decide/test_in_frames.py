"""From a pool to accepted triples in two calls, with data frames in and out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from actc import Calibrator, ScoredTriples, accept_triples, pick_triples
from actc.data.answers import Answers
from actc.errors import OptionError, RowError, TableError
from actc.graph.graph import Graph
from tests.synthetic import make_truth

TRIPLE = ["head", "relation", "tail"]


def judged(pool, labels, count=20, **options):
    asked = pick_triples(pool, count, **options)
    asked["label"] = labels[pool.find(*(asked[name] for name in TRIPLE))]
    return asked


def test_the_picks_are_the_calibrator_s(pool):
    rows = Calibrator("pooled", random_state=3).select(5, pool)
    assert pick_triples(pool, 5, seed=3)[TRIPLE].to_numpy().tolist() == [list(pool.triple(row)) for row in rows]


@pytest.mark.parametrize("method", ["pooled", "actc-lr-rndm", "localopt-acc"])
def test_what_is_accepted_is_what_the_thresholds_say_and_what_people_said(pool, labels, method):
    answers = judged(pool, labels)
    accepted = accept_triples(pool, answers, method=method)
    calibrator = Calibrator(method).fit(pool, Answers.from_frame(answers))
    expected = calibrator.predict(pool)
    expected[calibrator.annotations_.rows] = calibrator.annotations_.labels
    assert accepted["head"].tolist() == pool.take(expected).columns()["head"].tolist()
    by_people = accepted[accepted["by"] == "person"]
    assert set(by_people["head"]) == set(answers[answers["label"]]["head"])
    assert ("probability" in accepted) == (method != "localopt-acc")


def test_a_guarantee_without_draws_accepts_what_people_called_true(pool, labels):
    answers = judged(pool, labels)
    assert set(accept_triples(pool, answers, precision=0.9)["by"]) == {"person"}
    for act in (pick_triples, accept_triples):
        with pytest.raises(OptionError, match="has no probabilities; use a pooled method"):
            act(pool, answers=answers, method="localopt-acc", precision=0.9)


def test_draws_from_a_list_guarantee_it():
    pool, labels, _ = make_truth(4000, 5)
    first = judged(pool, labels, 15)
    drawn = judged(pool, labels, 60, answers=first, precision=0.7)
    assert set(drawn["selection"]) == {"list"}
    accepted = accept_triples(pool, pd.concat([first, drawn]).sample(frac=1, random_state=0), precision=0.7)
    by_method = accepted[accepted["by"] == "method"]
    assert len(by_method) > 100
    assert labels[pool.find(*(by_method[name] for name in TRIPLE))].mean() >= 0.7
    untold = pd.concat([first, drawn])[[*TRIPLE, "label"]]  # nobody knows how they were selected
    assert set(accept_triples(pool, untold, precision=0.7)["by"]) == {"person"}


@pytest.mark.parametrize(("library", "kind"), {"polars": pl.DataFrame, "pyarrow": pa.Table}.items())
def test_frames_of_any_library_go_in_and_out(pool, labels, library, kind):
    scored, answers = pool.to_frame(library), judged(pool, labels)
    accepted = accept_triples(scored, answers.to_dict("list"), library=library)
    assert isinstance(accepted, kind)
    assert len(accepted) == len(accept_triples(pool, answers))


def test_no_questions_and_answers_without_a_label_are_refused_in_a_sentence(pool):
    with pytest.raises(OptionError):
        pick_triples(pool, 0)
    asked = pick_triples(pool, 5)
    for unanswered in (asked.assign(label=np.nan), asked.assign(label=None)):
        with pytest.raises(TableError):
            accept_triples(pool, unanswered)
        with pytest.raises(TableError):
            pick_triples(pool, 5, answers=unanswered)
    nobody = asked.assign(label=np.nan).head(0)
    assert accept_triples(pool, nobody).equals(accept_triples(pool))


def frame_of_judges(pool, labels, count=3, quality=0.85):
    """Return what simulated judges answer about every triple, in pandas."""
    random, columns = np.random.default_rng(2), pd.DataFrame(pool.columns())
    said = [np.where(random.random(len(pool)) < quality, labels, ~labels) for _ in range(count)]
    return pd.concat([columns.assign(judge=f"judge {at}", label=one) for at, one in enumerate(said)])


def right(accepted, pool, labels):
    found = np.isin(np.arange(len(pool)), pool.find(*(accepted[name] for name in TRIPLE)))
    return (found == labels).mean()


def test_judges_decide_in_one_call_and_need_no_score():
    pool, labels, _ = make_truth(1000, 3)
    heard = frame_of_judges(pool, labels)
    answers = pool.to_frame("pandas").assign(label=labels).sample(30, random_state=0)
    alone = right(accept_triples(pool, answers), pool, labels)
    assert right(accept_triples(pool, answers, judges=heard), pool, labels) > alone
    bare = pool.to_frame("pandas")[TRIPLE]
    accepted = accept_triples(bare, answers, judges=heard)
    assert right(accepted, pool, labels) > 0.88
    assert set(accepted["by"]) == {"person", "method", "judges"}
    assert right(accept_triples(bare, judges=heard), pool, labels) > 0.85
    with pytest.raises(TableError):
        accept_triples(bare, answers)


def test_judges_may_give_probabilities_and_answer_twice():
    pool, labels, _ = make_truth(300, 3)
    answers = pool.to_frame("pandas").assign(label=labels).head(30)
    heard = frame_of_judges(pool, labels, 1).assign(probability=lambda frame: np.where(frame["label"], 0.9, 0.2))
    expected = accept_triples(pool, answers, judges=heard)
    assert accept_triples(pool, answers, judges=heard.drop(columns="label")).equals(expected)
    changed = heard.assign(label=~heard["label"], probability=1 - heard["probability"])
    assert accept_triples(pool, answers, judges=pd.concat([changed, heard])).equals(expected)


@pytest.mark.parametrize(("column", "value"), [("probability", 1.5), ("probability", "much"), ("label", "maybe")])
def test_a_judge_s_answer_that_cannot_be_read_is_refused(pool, labels, column, value):
    heard = frame_of_judges(pool, labels, 1).assign(probability=0.7).astype(object).reset_index(drop=True)
    with pytest.raises(TableError):
        accept_triples(pool, judges=heard.drop(columns=["label", "probability"]))
    heard.loc[3, column] = value
    with pytest.raises(RowError) as refused:
        accept_triples(pool, judges=heard)
    assert refused.value.row == 3


@pytest.mark.parametrize(
    "wrong",
    [{"count": "20"}, {"count": 2.5}, {"count": 0}, {"precision": "90%"}, {"precision": 0.9, "confidence": "high"}],
)
def test_what_is_no_number_is_refused_in_a_sentence(pool, wrong):
    with pytest.raises(OptionError, match="is out of range; give"):
        pick_triples(pool, **{"count": 2} | wrong)


def test_known_triples_may_be_a_frame_where_the_pool_may(pool, labels):
    frame, answers = pool.to_frame("pandas"), judged(pool, labels)
    accepted = accept_triples(pool, answers, method="pooled-known", known=frame)
    assert accepted.equals(accept_triples(pool, answers, method="pooled-known", known=pool))
    with pytest.raises(TableError, match="from_frame"):
        Calibrator("pooled-known").fit(pool, known=frame)
    with pytest.raises(TableError, match="from_frame"):
        Answers.of(frame, [0], [True])


def test_frames_keep_their_index_and_further_columns(pool, labels):
    rows = np.arange(len(pool))
    frame = pool.to_frame("pandas").assign(source=[f"text {row}" for row in rows], page=rows, by="us")
    frame[2026] = 1
    frame.index = [f"row {row}" for row in rows]
    questions = pick_triples(frame, 5)
    assert (frame.loc[questions.index, "source"] == questions["source"]).all()
    answers = questions.assign(label=labels[questions["page"]])
    accepted = accept_triples(frame, answers)
    assert (frame.loc[accepted.index, ["source", "page"]] == accepted[["source", "page"]]).all().all()
    every = accept_triples(frame, answers, keep_all=True)
    assert every.index.equals(frame.index)
    assert every[every["accepted"]]["head"].tolist() == accepted["head"].tolist()
    assert every["probability"].between(0, 1).all()
    assert set(every["given_by"]) | set(every["by"]) == {"us", "person", "method"}
    back = ScoredTriples.from_frame(pl.from_pandas(frame)).to_frame("polars")
    assert back["source"].to_list() == frame["source"].tolist()


def test_a_graph_scores_candidates_by_its_evidence():
    town, children = [f"p{at}" for at in range(80)], [f"c{at}" for at in range(80)]
    pairs = zip(town, children, strict=True)
    graph = pd.DataFrame([one for p, c in pairs for one in ((p, "parent of", c), (c, "child of", p))], columns=TRIPLE)
    hidden, others = graph[1::8], graph[1::8].assign(tail=lambda frame: np.roll(frame["tail"], 3))
    candidates = pd.concat([hidden, others]).assign(score=np.random.default_rng(0).normal(size=2 * len(hidden)))
    known = graph.drop(hidden.index)
    every = accept_triples(candidates, graph=known, keep_all=True)
    assert (every["model_score"] == candidates["score"]).all()
    p = every["probability"].to_numpy()
    assert p[: len(hidden)].min() > p[len(hidden) :].max()
    for given in (known.to_numpy(), Graph.from_columns(*known.to_numpy().T)):
        assert (accept_triples(candidates[TRIPLE], graph=given, keep_all=True)["probability"] == p).all()
    with pytest.raises(TableError):
        accept_triples(candidates, graph=known.assign(head="x", tail="y"))
