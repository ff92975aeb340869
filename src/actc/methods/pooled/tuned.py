"""Every number of the pooled method that was chosen, not derived, and what chose it.

Most were moved one at a time on halves of CoDEx's validation splits, where the optimum was flat: few moves changed the
mean accuracy by more than 0.1. ``benchmarks/real/choose.py`` changes one at a time on all pools (choices.csv).
"""

from __future__ import annotations

Coefficient = tuple[float, float]
"""Mean and standard deviation of a coefficient's prior."""

# --- Features of relations

# How many quantiles stand for the triples of a relation when picks are compared. Not tuned: as first specified.
POINTS = 21
# A relation's features, measured on n triples, count n / (n + 8).
SHRINK = 8
# The covariance of centre and -skew from which on features are trusted fully.
STRONG_COVARIANCE = 0.15
# Known triples that a relation needs before their median is compared. Not tuned: as first specified.
LEAST_KNOWN = 5
# A valley between two clusters of scores counts for so many answers; seen on n triples, for n / (n + 100) of that; the
# clearness below which it is left out.
VALLEY_ANSWERS = 6.0
VALLEY_SHRINK = 100
LEAST_CLEAR = 0.2
# The share of distinct scores from which on valleys are looked for. On 34 real pools nothing depends on it; on made-up
# confidences in steps of .05, which have 19 distinct scores, a false valley cost up to 19 points.
LEAST_DISTINCT = 0.5
# A question (head and relation, or relation and tail) with so many candidates looks like a model's list of answers.
# The share of such questions from which on a pool begins to look like lists, and from which on it does: all pools of
# proposals for one side have 1, others up to .58. The weight that the priors with few true triples then have.
LIST_LENGTH = 3
LISTS_BETWEEN = (0.6, 0.9)
LISTS_TRUST = 0.9

# --- Priors of scores whose meaning is unknown. What features predict was fitted to all validation labels of the eight
# CoDEx cells and rounded; the rest: benchmarks/real/choices.csv.

# How features move a relation's intercept and slopes, and the intercept that was fitted beside them; without and with
# scores of known triples. With these, gap predicts most of what the others would.
FEATURES: dict[bool, dict[str, Coefficient]] = {
    False: {"c": (1.0, 0.8), "skew": (-1.5, 0.7), "bskew": (0.3, 0.4)},
    True: {"c": (0.4, 0.8), "skew": (-0.75, 0.7), "bskew": (0.3, 0.4), "gap": (-2.0, 0.9)},
}
FEATURES_INTERCEPT = -0.4
# The coefficients of features where they predict nothing.
NO_FEATURE: Coefficient = (0.0, 0.3)
# The logit of a relation's median candidate is so far below 0 where few are true, and as far above 0 where most are
# (log-odds of 1 to 10), give or take.
BASE_LOGIT = 2.3
BASE_SD = 0.5
# How much steeper the curve is on the right; its slope with features, with equal relations, and with equal relations of
# which few or most candidates are true.
SLOPE_DIFFERENCE: Coefficient = (0.7, 0.4)
SLOPES = (1.5, 2.0, 1.2)
SLOPE_SD = 0.6
# How much relations differ in intercept, and how much equal ones do; how much they differ in slopes.
TAU = 1.2
EQUAL_TAU = 0.3
SLOPE_TAU = 0.5
# The weight of the priors with features in pools whose features agree; the weight below which a prior is left out. Not
# tuned.
FEATURES_WEIGHT = 0.98
LEAST_WEIGHT = 1e-3

# --- Prior of scores that are log-odds or probabilities. All pool labels of six cells have intercepts from -1.4 to .4
# and slopes from .9 to 1.6 (docs/evidence.md); half and twice these widths decide nearly alike
# (benchmarks/evidence/choice.csv, line and tau).

LOG_ODDS: dict[str, Coefficient] = {"one": (0.0, 0.5), "diff": (0.0, 0.25), "slope": (1.0, 0.3)}
LOG_ODDS_TAU = (0.6, 0.25)
# The least probability that is believed, and 1 - the greatest: rounded to two digits, 0 or 1.
LEAST_PROBABILITY = 0.005
# Degrees of freedom of Student's t, the prior of the intercept: answers that contradict it widen it.
FREEDOM = 2.0
# How many relations' deviations the prior's tau counts for (intercepts, slopes), and how often the mode and tau are
# computed in turn. As first specified.
TAU_COUNTS = (10.0, 20.0)
TAU_ROUNDS = 2
# Widths of the prior of the weights that answers give to pieces of evidence, and the probability, before any answer,
# that pieces add nothing. Half or twice the widths, and other probabilities, decide alike:
# benchmarks/evidence/choice.csv, widths and nothing.
PIECE_WIDTHS = (0.05, 0.1, 0.2, 0.4)
NO_PIECES = 0.5

# --- Decisions and questions

# Which share of the questions is drawn from what is accepted now, and from what is rejected now. With 0.3 and 0.15,
# intervals from 100 answers were a tenth wider and a guarantee of 0.8 accepted 14.8% instead of 16.6 (six runs on all
# cells).
CHECKS = {"accepted": 0.35, "rejected": 0.2}
# How many times likelier a check takes a triple of a relation that should have had two checks by now and had none. Not
# tuned.
DUE = 10
# After l labels, l / 5 triples are picked before the model is fitted again. Not tuned: for speed.
LABELS_IN_BATCH = 5
# Where few are true: the share of the unjudged candidates that the list of the most probable ones holds, and their
# least number; the share of questions that is drawn from it where it should hold nothing, and nothing else.
LIST_SHARE, LEAST_LIST = 0.02, 20
FROM_LIST = (0.4, 0.8)
