"""Bounds from few answers of people and many guesses hold whatever the guesses are; good ones make them narrower."""

from __future__ import annotations

import numpy as np
import pytest

from actc.trust.intervals import clopper_pearson
from actc.trust.ppi import estimate_share

SIZE, DRAWN, RUNS = 3000, 50, 400


def draw(guess, seed, share=0.7):
    """Return a finite set's truth, guesses of it, and a random draw."""
    random = np.random.default_rng(seed)
    truth = (random.random(SIZE) < share).astype(float)
    return truth, guess(truth, random), random.permutation(SIZE)[:DRAWN]


def flip(rate):
    return lambda truth, random: np.where(random.random(SIZE) < rate, 1 - truth, truth)


GUESSES = {
    "good": flip(0.1),
    "fair": flip(0.3),
    "chance": flip(0.5),
    "lies": flip(0.8),
    "all true": lambda truth, random: np.ones(SIZE),
    "biased": lambda truth, random: 0.2 * truth,
    "perfect": lambda truth, random: truth,
}


@pytest.mark.parametrize("name", GUESSES)
def test_nine_of_ten_bounds_hold_whatever_the_guesses(name):
    holds = 0
    for seed in range(RUNS):
        truth, guesses, rows = draw(GUESSES[name], seed)
        low, high = estimate_share(truth[rows], guesses[rows], guesses).interval
        holds += low <= truth.mean() <= high
    assert holds / RUNS >= 0.87


def width(name, seed=0):
    truth, guesses, rows = draw(GUESSES[name], seed)
    found = estimate_share(truth[rows], guesses[rows], guesses)
    return (found.interval.high - found.interval.low) / (found.alone.high - found.alone.low)


def test_better_guesses_make_narrower_bounds_and_bad_ones_hardly_wider():
    widths = {name: np.mean([width(name, seed) for seed in range(40)]) for name in GUESSES}
    assert widths["perfect"] < 0.35 < widths["good"] < 0.75 < widths["fair"] < 1
    assert all(widths[name] < 1.05 for name in ("chance", "lies", "all true"))


def test_without_guesses_that_tell_anything_the_bounds_are_those_of_people_alone():
    truth, _, rows = draw(GUESSES["good"], 0)
    found = estimate_share(truth[rows], np.full(DRAWN, 0.4), np.full(SIZE, 0.4))
    assert found.counted == 0
    assert found.share == pytest.approx(truth[rows].mean())
    assert found.alone == clopper_pearson(truth[rows].sum(), DRAWN)
    assert found.interval.low == pytest.approx(found.alone.low, abs=0.005)


def test_where_nobody_erred_yet_good_guesses_promise_little_more_than_people():
    guesses = np.full(SIZE, 0.97)
    found = estimate_share(np.ones(DRAWN), guesses[:DRAWN], guesses)
    assert found.interval.low == pytest.approx(found.alone.low, abs=0.01)


def test_a_set_that_was_judged_whole_is_known_exactly():
    truth, guesses, _ = draw(GUESSES["fair"], 0)
    low, high = estimate_share(truth, guesses, guesses).interval
    assert low == pytest.approx(truth.mean(), abs=1e-3) == pytest.approx(high, abs=1e-3)


def test_too_few_answers_say_nothing():
    assert estimate_share(np.ones(1), np.ones(1), np.ones(9)).interval == (0, 1)
