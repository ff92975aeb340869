"""Which label should several people's answers give? Three laymen a fact, compared with the experts' label.

    ACTC_REAL=folder python -m benchmarks.real.people --repeats 20

The folder has `dbpedia-crowd.tsv.gz`: what 60 laymen and 3 experts answered about facts of DBpedia. Ways to combine:

- `majority`, as sessions do;
- `one`: Dawid and Skene (1979) with one parameter a person, how often they are right;
- `two`: with two, how often they are right about what is true and about what is false;
- `difficulty`: GLAD (Whitehill et al. 2009), one parameter a person and one a fact;
- `all true`: no answer is looked at.

No label of an expert is used but to compare. `left out` learns what people are worth without the batches that are
compared (a tenth of the experts' batches at a time); `all` with them; `small` from the compared facts alone, which is
a session of its size. Writes people.csv: a row for each way, repeat and set, with the difference from the majority and
its standard error over the experts' batches.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.data.numeric import logit, sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray

HERE = Path(__file__).parent
COLUMNS = ("way", "learnt_from", "repeat", "facts", "agreement", "balanced", "difference", "standard_error")
LAYMEN, FOLDS, STEPS = 3, 10, 60
RIGHT, WRONG = 2.0, 1.0  # answers that everybody starts with: three, two of them right


@dataclass(frozen=True, eq=False)
class Answers:
    """True or false answers: of which fact, whose, and what."""

    facts: IntArray
    people: IntArray
    labels: IntArray

    def take(self, which: IntArray | BoolArray) -> Answers:
        """Return some of them."""
        return Answers(self.facts[which], self.people[which], self.labels[which])


@dataclass(frozen=True, eq=False)
class Crowd:
    """Laymen's answers, and of each fact the experts' label (1, -1, or 0 where there is none) and their batch."""

    answers: Answers
    experts: IntArray
    batches: IntArray


def read_crowd(path: Path) -> Crowd:
    """Read the answers; where somebody answered twice, the last one counts."""
    facts: dict[tuple[str, ...], int] = {}
    people: dict[str, int] = {}
    last: dict[tuple[int, int], tuple[int, int]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            *fact, who, label, _, batch = line.rstrip("\n").split("\t")
            if label:
                key = facts.setdefault(tuple(fact), len(facts)), people.setdefault(who, len(people))
                last[key] = int(label), int(batch)
    table = np.array([(*key, *value) for key, value in last.items()], dtype=np.int64)
    expert = np.array([name.startswith("expert") for name in people])[table[:, 1]]
    label = np.sign(np.bincount(table[expert, 0], 2.0 * table[expert, 2] - 1, len(facts))).astype(np.int64)
    batches = np.zeros(len(facts), dtype=np.int64)
    batches[table[expert, 0]] = table[expert, 3]
    return Crowd(Answers(*table[~expert, :3].T), label, batches)


Way = Callable[[Answers, Answers, int, int], FloatArray]
"""(answers to learn from, answers to combine, facts, people) to the log-odds that each fact is true."""


def majority(learn: Answers, given: Answers, facts: int, people: int) -> FloatArray:
    """Count."""
    return np.bincount(given.facts, 2.0 * given.labels - 1, facts)


def all_true(learn: Answers, given: Answers, facts: int, people: int) -> FloatArray:
    """Ask nobody."""
    return np.ones(facts)


def dawid_skene(learn: Answers, given: Answers, facts: int, people: int, two: bool) -> FloatArray:
    """Learn by expectation maximisation how often each person is right, and weigh their answers by it."""
    true = _start(learn, facts)
    for _ in range(STEPS):
        weight_true, weight_false = true[learn.facts], 1 - true[learn.facts]
        hits = np.bincount(learn.people, weight_true * learn.labels, people)
        correct = np.bincount(learn.people, weight_false * (1 - learn.labels), people)
        trues, falses = (np.bincount(learn.people, weight, people) for weight in (weight_true, weight_false))
        if not two:
            hits = correct = hits + correct
            trues = falses = trues + falses
        right = [(count + RIGHT) / (asked + RIGHT + WRONG) for count, asked in ((hits, trues), (correct, falses))]
        prior = logit(true[np.unique(learn.facts)].mean())
        true = sigmoid(prior + _add(learn, *right, facts))
    return np.asarray(prior + _add(given, *right, facts))


def _add(answers: Answers, right_of_true: FloatArray, right_of_false: FloatArray, facts: int) -> FloatArray:
    hit, correct = right_of_true[answers.people], right_of_false[answers.people]
    odds = np.where(answers.labels == 1, np.log(hit / (1 - correct)), np.log((1 - hit) / correct))
    return np.bincount(answers.facts, odds, facts)


def glad(learn: Answers, given: Answers, facts: int, people: int) -> FloatArray:
    """Learn what people can and how easy facts are: P(right) = sigmoid(ability x easiness), normal priors."""
    ability, prior = np.ones(people), logit(_start(learn, facts)[np.unique(learn.facts)].mean())
    ability, prior, _ = _fit_glad(learn, facts, ability, prior, fixed=False)
    return _fit_glad(given, facts, ability, prior, fixed=True)[2]


def _fit_glad(
    answers: Answers, facts: int, ability: FloatArray, prior: float, fixed: bool
) -> tuple[FloatArray, float, FloatArray]:
    """Return abilities, the prior's log-odds, and the log-odds of each fact; abilities may be kept as they are."""
    easy, sign, of, who = np.zeros(facts), 2.0 * answers.labels - 1, answers.facts, answers.people
    asked = np.unique(of)
    for _ in range(STEPS):
        odds = prior + np.bincount(of, sign * ability[who] * np.exp(easy[of]), facts)
        true = sigmoid(odds)
        agree = np.where(sign > 0, true[of], 1 - true[of])
        if not fixed:
            prior = float(logit(true[asked].mean()))
            error, curve = _errors(ability[who] * np.exp(easy[of]), agree, np.exp(easy[of]))
            ability = ability + (np.bincount(who, error, len(ability)) - (ability - 1)) / (
                np.bincount(who, curve, len(ability)) + 1
            )
        error, curve = _errors(ability[who] * np.exp(easy[of]), agree, ability[who] * np.exp(easy[of]))
        easy = easy + np.clip((np.bincount(of, error, facts) - easy) / (np.bincount(of, curve, facts) + 1), -1, 1)
    return ability, prior, odds


def _errors(size: FloatArray, agree: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gradient and the curvature of the log-likelihood, answer by answer."""
    right = sigmoid(size)
    return (agree - right) * slope, right * (1 - right) * slope**2


def _start(answers: Answers, facts: int) -> FloatArray:
    trues, counts = np.bincount(answers.facts, answers.labels, facts), np.bincount(answers.facts, minlength=facts)
    return np.asarray((trues + 0.5) / (counts + 1))


WAYS: dict[str, Way] = {
    "majority": majority,
    "one": lambda *given: dawid_skene(*given, two=False),
    "two": lambda *given: dawid_skene(*given, two=True),
    "difficulty": glad,
    "all true": all_true,
}


def draw_three(answers: Answers, random: np.random.Generator) -> Answers:
    """Keep three answers to each fact at most."""
    mixed = random.permutation(len(answers.facts))
    mixed = mixed[np.argsort(answers.facts[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(answers.facts[mixed], prepend=-1))
    place = np.arange(len(mixed)) - np.repeat(starts, np.diff(starts, append=len(mixed)))
    return answers.take(mixed[place < LAYMEN])


def combine(way: Way, learnt_from: str, answers: Answers, compared: IntArray, batches: IntArray) -> BoolArray:
    """Return the labels of the compared facts."""
    facts, people = len(batches), int(answers.people.max()) + 1
    mine = answers.take(np.isin(answers.facts, compared))
    if learnt_from != "left out":
        return (way(mine if learnt_from == "small" else answers, mine, facts, people) > 0)[compared]
    labels = np.zeros(facts, dtype=np.bool_)
    for fold in range(FOLDS):
        out = compared[batches[compared] % FOLDS == fold]
        is_out = np.isin(answers.facts, out)
        labels[out] = way(answers.take(~is_out), answers.take(is_out), facts, people)[out] > 0
    return labels[compared]


def measure(crowd: Crowd, repeat: int) -> list[dict[str, object]]:
    """Draw three laymen a fact, and compare every way with the experts."""
    random = np.random.default_rng(repeat)
    three = draw_three(crowd.answers, random)
    enough = np.bincount(three.facts, minlength=len(crowd.experts)) == LAYMEN
    compared = np.flatnonzero(enough & (crowd.experts != 0))
    true, batch = crowd.experts[compared] > 0, np.unique(crowd.batches[compared], return_inverse=True)[1]
    base = combine(majority, "all", three, compared, crowd.batches) == true
    rows = []
    for learnt_from in ("left out", "all", "small"):
        for name, way in WAYS.items():
            right = combine(way, learnt_from, three, compared, crowd.batches) == true
            by_batch = np.bincount(batch, right.astype(float) - base)
            rows.append(
                {
                    "way": name,
                    "learnt_from": learnt_from,
                    "repeat": repeat,
                    "facts": len(compared),
                    "agreement": round(float(right.mean()), 4),
                    "balanced": round(float((right[true].mean() + right[~true].mean()) / 2), 4),
                    "difference": round(float(right.mean() - base.mean()), 4),
                    "standard_error": round(float(np.sqrt((by_batch**2).sum()) / len(compared)), 4),
                }
            )
    return rows


def main() -> None:
    """Write the rows and print their means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    crowd = read_crowd(Path(os.environ["ACTC_REAL"]) / "dbpedia-crowd.tsv.gz")
    rows = [row for repeat in range(options.repeats) for row in measure(crowd, repeat)]
    with (HERE / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for key in dict.fromkeys((row["learnt_from"], row["way"]) for row in rows):
        mine = [row for row in rows if (row["learnt_from"], row["way"]) == key]
        means = [f"{np.mean([row[name] for row in mine]):.3f}" for name in COLUMNS[4:]]  # type: ignore[misc]
        print(*key, *means)


if __name__ == "__main__":
    main()
