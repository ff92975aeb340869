"""Errors that travel: what a worker process refuses, the person at the keyboard reads."""

from __future__ import annotations

import pickle

import pytest

from actc.errors import ChoiceError, MissingExtraError, OptionError, RowError


@pytest.mark.parametrize(
    "error",
    [
        ChoiceError("prior", "v3", ["v1", "v2"]),
        MissingExtraError("Drawing", "matplotlib", "plots"),
        OptionError("A budget of 0 is too small."),
        RowError(3, "the score is NaN.", 1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_way_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
