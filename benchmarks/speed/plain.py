"""The paper as a plain program: scikit-learn, one fit per relation, one prediction per triple, every cut tried.

What `actc` is measured against, and, being so plain, a second opinion on its thresholds.
"""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import LogisticRegression

Triple = tuple[str, str, str]
MAKERS = {
    "lr": lambda: LogisticRegression(C=100.0),
    "gp": lambda: GaussianProcessClassifier(Matern(length_scale=0.1, nu=1.5), optimizer=None),
}


def decision_set(scores: dict[Triple, float], labels: dict[Triple, float], kind: str, n: int) -> dict[Triple, float]:
    """Label every k-th triple with a classifier until there are n labels."""
    if len(labels) >= n:
        return labels
    xs = [[min(scores.values())], [max(scores.values())], *([scores[triple]] for triple in labels)]
    classifier = MAKERS[kind]().fit(xs, [0.0, 1.0, *labels.values()])
    result = dict(labels)
    k = len(scores) // (n - len(labels)) + 1
    for i, (triple, score) in enumerate(scores.items()):
        if (i + 1) % k == 0 and triple not in labels:
            result[triple] = 1.0 if classifier.predict_proba([[score]])[0, 1] > 0.5 else 0.0
    return result


def best_cut(scores: dict[Triple, float], labels: dict[Triple, float]) -> float:
    """Try every score of the decision set as a cut; the lowest of the best wins."""
    values = np.array([scores[triple] for triple in labels])
    truth = np.array(list(labels.values()))
    right = [((values >= cut) == truth).sum() for cut in values]
    return float(values[np.array(right) == max(right)].min())


def calibrate(scores: dict[Triple, float], labels: dict[Triple, float], kind: str, n: int = 500) -> dict[str, float]:
    """Return a cut per annotated relation, and one under the empty name for all others."""
    cuts = {"": best_cut(scores, decision_set(scores, labels, kind, n))}
    for relation in {triple[1] for triple in labels}:
        own = {triple: label for triple, label in labels.items() if triple[1] == relation}
        cuts[relation] = best_cut(scores, decision_set(scores, own, kind, n))
    return cuts
