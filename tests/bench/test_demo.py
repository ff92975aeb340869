from __future__ import annotations

import csv
import re

import pytest

from actc.bench.metrics import accuracy
from actc.bench.sample.demo import ANSWERS, run_demo, write_cut
from actc.cli.show import print_demo
from actc.data.calibration import Calibration


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
