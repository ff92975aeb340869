"""What docs/pooled.md and the README claim of graphs that nobody tuned for is what the committed rows say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.proving import choose, summarise

from actc.sample import load_sample
from actc.sample.demo import _without_calibration

ROOT = Path(__file__).parents[2]
METHODS = ("pooled", "pooled-known")
GRAPHS = 15


@pytest.fixture(scope="module")
def means():
    return summarise.read_means()


@pytest.mark.parametrize("method", METHODS)
def test_no_graph_is_below_the_papers_method_or_far_below_the_version_before_at_the_start(means, method):
    regrets = summarise.find_regrets(means, method)
    assert len(regrets) == GRAPHS
    below_start, below_paper, below_paper_at_once, below_second = np.array(list(regrets.values())).max(axis=0)
    assert below_start <= 1.0
    assert below_paper <= 0.5
    assert below_paper_at_once <= 2.0
    assert below_second <= 3.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("version", summarise.VERSIONS)
def test_the_mean_of_all_graphs_is_above_the_versions_before(means, method, version):
    gains = summarise.gains(means, method, version)
    assert len(gains) == GRAPHS
    assert np.mean(list(gains.values())) > 0


@pytest.mark.parametrize(("method", "least"), [("pooled", (79.0, 80.0)), ("pooled-known", (80.8, 81.3))])
def test_codex_keeps_what_it_had(means, method, least):
    for which, limit in enumerate(least):
        graphs = [summarise.mean_of_ten(means, graph, method, which) for graph in summarise.CODEX]
        assert np.mean(graphs) >= limit


def test_on_the_sample_it_is_never_below_a_plain_cut(means):
    plain = 100 * _without_calibration(load_sample())[0]
    curve = {
        budget: value[0] for (graph, method, budget), value in means.items() if (graph, method) == ("sample", "pooled")
    }
    assert len(curve) == 11
    assert min(curve.values()) >= plain


def test_whatever_is_chosen_without_a_graph_the_humps_count_and_what_is_shipped_is_nearly_as_good_there():
    found = choose.choose(choose.read_choices())
    assert {graph for left, _, _ in found for graph in left} == {graph for graph, _, _ in summarise.read_means()}
    for _, chosen, there in found:
        assert chosen != "hump_counts=0"
        assert there[choose.SHIPPED] >= there[chosen] - 1.0


def test_the_readme_says_what_the_rows_say_of_no_answer(means):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for method in METHODS:
        start = np.mean([means[graph, method, 0][0] for graph in summarise.CODEX])
        assert f"`{method}` is right in {start:.1f}%" in " ".join(page.split())
