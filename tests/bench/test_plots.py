from __future__ import annotations

import subprocess
import sys

import pytest

from actc.bench.plots import curves_of, draw_learning_curves, sketch_learning_curves
from actc.bench.rows import Row


def rows():
    for repeat, shift in enumerate((0.0, 0.1)):
        for budget, value in ((1, 0.5), (10, 0.7)):
            yield Row("d", "m", "rising", budget, repeat, value + shift, 0.0, 0.0)
        yield Row("d", "m", "late", 10, repeat, 0.6, 0.0, 0.0)


def test_curves_are_means_in_per_cent_with_standard_errors():
    rising, late = curves_of(list(rows()), {"rising": "Rising", "late": "Late"})
    assert (rising.name, rising.budgets) == ("Rising", (1, 10))
    assert rising.means == pytest.approx((55.0, 75.0))
    assert rising.errors == pytest.approx((5.0, 5.0))
    assert (late.budgets, late.errors) == ((10,), (0.0,))


def test_the_sketch_has_a_letter_at_every_mean_and_names_it():
    sketch = sketch_learning_curves(curves_of(list(rows()), {"rising": "Rising", "late": "Late"}))
    drawing, legend = sketch.split("+---")[0], sketch.splitlines()[-2:]
    assert drawing.count("o") == 2
    assert drawing.count("x") == 1
    assert [line.split() for line in legend] == [["o", "Rising"], ["x", "Late"]]


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_figure_is_written_in_the_format_of_its_name(tmp_path, suffix, start):
    path = tmp_path / f"curves{suffix}"
    draw_learning_curves(curves_of(list(rows()), {"rising": "Rising"}), {"ceiling": 80.0}, "A title", path)
    assert path.read_bytes().startswith(start)


def test_without_matplotlib_the_sentence_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from actc.bench.plots import draw_learning_curves\n"
        "try: draw_learning_curves([], {}, '', 'x.png')\n"
        "except ValueError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    told = "Drawing figures needs matplotlib. Install it with: pip install 'actc[plots]'"
    assert result.stdout == f"{told} (in a checkout: pip install '.[plots]')\n"
