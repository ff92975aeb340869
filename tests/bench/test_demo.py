"""The packaged sample, the pictures, and the demo that shows both."""

from __future__ import annotations

import csv
import re
from importlib.resources import files

import numpy as np
import pytest

from actc.bench.measurements import Row
from actc.bench.metrics import accuracy
from actc.bench.plots import draw_learning_curves
from actc.bench.sample import load_sample
from actc.bench.sample.demo import ANSWERS, run_demo
from actc.cli.show import print_demo
from actc.data.calibration import Calibration
from actc.decide.estimate import write_cut


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"), repeats=3, seed=0, jobs=1)


@pytest.fixture(scope="module")
def written(demo):
    return {path.name: path for path in demo.written}


def test_fifty_answers_beat_no_calibration_and_come_near_every_label(demo):
    ours = accuracy(demo.sample.test_labels, demo.decided.accepted)
    assert len(demo.case.annotations) == ANSWERS
    assert ours > demo.levels["no calibration"][0] + 0.02
    assert ours > demo.levels["every label of the pool"][0] - 0.05


def test_the_accepted_triples_are_those_above_the_written_thresholds(demo, written):
    decisions = Calibration.read(written["thresholds.json"]).thresholds.decide(demo.sample.test)
    with open(written["accepted.tsv"], newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    expected = {demo.sample.test.triple(row) for row in decisions.nonzero()[0].tolist()}
    assert {(row["head"], row["relation"], row["tail"]) for row in rows} == expected
    assert all(row["sentence"] for row in rows)
    assert list(rows[0]) == ["head", "relation", "tail", "score", "probability", "by", "sentence"]
    assert {row["by"] for row in rows} == {"method"}  # nobody judged a test triple


def test_the_page_stands_alone_and_tells_the_story(demo, written):
    page = written["report.html"].read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert f"{demo.precision:.0%} are true" in page
    assert page.count("<tr>") > ANSWERS
    assert page.index("<h2>What to do next</h2>") > page.rindex("</table>")
    assert "actc start my-session --sample" in page


def test_no_threshold_is_written_as_infinity(demo):
    assert write_cut(float("-inf")) == "accept all"
    assert write_cut(float("inf")) == "accept none"
    assert not any("inf" in row[1] for row in demo.by_relation)


def test_the_terminal_shows_questions_curves_and_thresholds(demo, capsys):
    print_demo(demo)
    shown = capsys.readouterr().out
    assert demo.sample.sentence(*demo.sample.valid.triple(int(demo.case.annotations.rows[0]))) in shown
    assert "pooled-known" in shown
    assert "accepted.tsv" in shown


def test_a_graph_gets_better_without_a_model_or_an_answer(demo, written):
    counts = demo.families
    assert counts["true"] > 0.8 * counts["accepted"]
    assert counts["true"] > 0.5 * counts["hidden"]
    assert demo.rules
    assert (demo.folder / "better" / "graph.tsv").exists()
    assert "A graph alone is enough" in written["report.html"].read_text(encoding="utf-8")


def test_the_report_counts_by_relation(demo):
    accepted = demo.case.thresholds.decide(demo.sample.test)
    columns = list(zip(*demo.by_relation, strict=True))
    assert sum(map(int, columns[2])) == ANSWERS
    assert sum(map(int, columns[3])) == len(demo.sample.test)
    assert sum(map(int, columns[4])) == accepted.sum()


@pytest.fixture(scope="module")
def sample():
    return load_sample()


def test_every_relation_has_candidates_of_both_kinds_in_both_lists(sample):
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert 2000 <= len(table) <= 3000
        assert set(table.relation_names) == set(sample.relations) == set(sample.known.relation_names)
        assert np.bincount(table.relations, weights=labels).min() >= 12
        assert np.bincount(table.relations, weights=~labels).min() >= 5


def test_everything_has_a_name_and_a_definition(sample):
    used = {*sample.valid.entity_names, *sample.test.entity_names, *sample.known.entity_names}
    assert used == set(sample.names) == set(sample.descriptions)
    assert all({*sample.names.values(), *sample.descriptions.values()})
    for text in sample.relations.values():
        assert all(text.values())
        assert "{head}" in text["sentence"]
        assert "{tail}" in text["sentence"]


def test_no_triple_is_in_two_lists_and_what_is_true_is_about_known_concepts(sample):
    known = set(sample.known.entity_names)
    assert not sample.valid.contains(sample.test).any()
    for table, labels in ((sample.valid, sample.valid_labels), (sample.test, sample.test_labels)):
        assert not sample.known.contains(table).any()
        true = table.take(labels).columns()
        assert {*true["head"], *true["tail"]} <= known


def test_the_files_are_small_and_carry_wordnets_licence():
    folder = files("actc.bench.sample")
    assert sum(len(path.read_bytes()) for path in folder.iterdir() if path.is_file()) < 600_000
    notice = (folder / "LICENSE-wordnet").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert 'PROVIDED "AS IS"' in notice


def rows():
    for repeat, shift in enumerate((0.0, 0.1)):
        for budget, value in ((1, 0.5), (10, 0.7)):
            yield Row("d", "m", "rising", budget, repeat, value + shift, 0.0, 0.0)
        yield Row("d", "m", "late", 10, repeat, 0.6, 0.0, 0.0)


def test_lines_are_means_in_per_cent_by_budget():
    axes = draw_learning_curves(list(rows()), {"rising": "Rising", "late": "Late"}).axes[0]
    rising, late = (line.get_xydata().tolist() for line in axes.lines)
    np.testing.assert_allclose(rising, [[0, 55], [1, 75]])
    np.testing.assert_allclose(late, [[1, 60]])
    band = axes.collections[0].get_paths()[0].get_extents()
    np.testing.assert_allclose([band.ymin, band.ymax], [50, 80])  # a standard error of 5


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_figure_is_written_in_the_format_of_its_name(tmp_path, suffix, start):
    path = tmp_path / f"curves{suffix}"
    draw_learning_curves(list(rows()), {"rising": "Rising"}, {"ceiling": 80.0}, "A title", path)
    assert path.read_bytes().startswith(start)
