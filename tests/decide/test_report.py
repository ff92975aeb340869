"""The report: the same numbers on the page and as JSON, from a thresholds file alone."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest

from actc.data.answers import PROVENANCE
from actc.data.calibration import Calibration
from actc.data.files import write_scored, write_triples
from actc.data.triples import ScoredTriples, Thresholds
from actc.decide.calibrate import calibrate, read_case
from actc.decide.case import Case
from actc.decide.report import PageContext, make_report, select_questions, write_page
from actc.errors import FileError
from tests.synthetic import fit_on_random, make_truth


def make_case(count: int = 120) -> Case:
    pool, labels, _ = make_truth(1200, 5)
    _, annotations = fit_on_random(pool, labels, count)
    return Case(pool, annotations, name="a <case> & more")


VOID = {"meta", "br", "line", "rect", "circle", "path"}  # tags that need no end


@pytest.fixture(scope="module")
def case():
    return make_case()


@pytest.fixture(scope="module")
def report(case):
    return make_report(case)


def test_the_page_is_well_formed_needs_nothing_else_and_shows_the_numbers(report, tmp_path):
    path = tmp_path / "report.html"
    write_page(report, path)
    page = path.read_text(encoding="utf-8")
    begun, ended = (Counter(re.findall(tag, page)) for tag in (r"<([a-z]\w*)", r"</(\w+)>"))
    assert {tag for tag in begun if begun[tag] != ended[tag]} <= VOID
    assert not re.search(r'(?:src|href)="', page)
    assert "<script" not in page
    assert "a &lt;case&gt; &amp; more" in page
    share = report.quality["precision"]
    assert f"Precision of the accepted facts: {share}." in page
    assert page.count("<svg") >= 4 + 2 * len(report.relations)


def test_the_interval_holds_what_the_labels_say(case, report):
    _, labels, _ = make_truth(1200, 5)
    decisions = case.decisions.accepted
    share = report.quality["precision"]
    assert share.low <= labels[decisions].mean() <= share.high
    assert report.accepted == decisions.sum()


def test_a_relation_that_may_be_mostly_wrong_is_not_surely_over_half_true():
    random = np.random.default_rng(0)
    names, size = ("bad", "good", "none"), 400
    heads = [f"h{i}" for i in range(3 * size)]
    pool = ScoredTriples.from_columns(heads, np.repeat(names, size), heads, random.normal(size=3 * size))
    labels = random.random(3 * size) < np.repeat([0.2, 0.9, 0.5], size)
    _, annotations = fit_on_random(pool, labels, 300)
    cuts = np.array([-np.inf, -np.inf, np.inf])  # everything of two relations is accepted, nothing of the third
    answered = np.isin(pool.relations[annotations.rows], (0, 1))  # what people said themselves counts as right
    case = Case(pool, annotations.take(answered), given_thresholds=Thresholds(names, cuts, 0.0, np.ones(3, dtype=bool)))
    report = make_report(case)
    over_half = {line.relation: line.over_half for line in report.relations}
    assert over_half == {"bad": "uncertain", "good": "yes", "none": "nothing accepted"}


def test_the_page_says_names_what_trust_means_and_what_to_run_next(report, tmp_path):
    context = PageContext(
        lambda relation: f"name of {relation}", lambda *triple: " ~ ".join(triple), ("actc annotate 'a b'",)
    )
    write_page(report, tmp_path / "report.html", context)
    page = (tmp_path / "report.html").read_text()
    assert f"name of {report.relations[0].relation}" in page
    first = report.ask_next[0]
    assert " ~ ".join(first[name] for name in ("head", "relation", "tail")) in page
    assert "Above 50%: yes" in page
    assert "actc annotate &#39;a b&#39;" in page


def test_nothing_accepted_and_nothing_judged_make_a_report_too(tmp_path):
    case = make_case(0)
    names = case.pool.relation_names
    none = Thresholds(names, np.full(len(names), np.inf), np.inf, np.zeros(len(names), dtype=bool))
    report = make_report(Case(case.pool, case.annotations, given_thresholds=none))
    write_page(report, tmp_path / "report.html")
    assert report.quality["precision"] is None
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0 of 1,200 candidates are accepted" in page
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.fixture
def files(tmp_path):
    case = make_case(60)
    write_scored(tmp_path / "scores.tsv", case.pool)
    names = zip(*(case.pool.triple(row) for row in case.annotations.rows.tolist()), strict=True)
    columns = dict(zip(("head", "relation", "tail"), names, strict=True))
    write_triples(tmp_path / "labels.tsv", {**columns, "label": case.annotations.labels.astype(int)})
    calibrate(tmp_path / "scores.tsv", tmp_path / "labels.tsv", picks="random", out=tmp_path / "thresholds.json")
    calibrate(case.pool, case.annotations.about(case.pool), out=tmp_path / "bare.json")
    return tmp_path


def test_a_thresholds_file_leads_back_to_its_case(files):
    path, made = files / "thresholds.json", make_case(60)
    case = read_case(path, Calibration.read(path))
    for name in ("rows", "labels", *PROVENANCE):
        assert getattr(case.annotations, name).tolist() == getattr(made.annotations, name).tolist()
    assert case.thresholds.cuts_and_default == pytest.approx(made.thresholds.cuts_and_default)
    low, middle, high = case.accepted_precision
    assert 0 < low < middle < high <= 1


def test_thresholds_that_name_no_source_are_refused(files):
    with pytest.raises(FileError, match="calibrate"):
        read_case(files / "bare.json", Calibration.read(files / "bare.json"))


def test_questions_are_the_most_uncertain_candidates(case):
    doubt = [abs(one["probability"] - 0.5) for one in select_questions(case, 5)]
    unjudged = np.setdiff1d(np.arange(len(case.pool)), case.annotations.rows)
    assert doubt == np.sort(np.abs(case.decisions.probability[unjudged] - 0.5))[:5].tolist()
