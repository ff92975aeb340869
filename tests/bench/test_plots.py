from __future__ import annotations

import numpy as np
import pytest

from actc.bench.measurements import Row
from actc.bench.plots import draw_learning_curves


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
