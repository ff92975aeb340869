"""Every named method, and the two protocols: Method and Fit.

A method is a frozen dataclass whose fields are its options, so that ``actc-lr-rndm:n=50,soft=true`` is the method
``actc-lr-rndm`` with two fields replaced. :meth:`Method.fit` makes one fit of a pool and its answers. The fit has
thresholds, probabilities, the next triples to judge, and how sure the method is.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import re
import sys
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.triples import BoolArray, FloatArray, ScoredTriples, Thresholds
from actc.errors import ActcError, ChoiceError, OptionError, check_choice
from actc.methods.pooled.method import Pooled
from actc.methods.pooled.model import Posterior
from actc.methods.three_steps import Actc, GlobalOpt, LocalOpt, Squash

LOG = logging.getLogger("actc")
IMPORTED: dict[str, Method] = {}
"""The methods that this process imported, by name."""


class Fit(Protocol):
    """What a method makes of the answers on a pool: fitted once, used often.

    Each value is computed when it is first used: who only wants the next triples to judge does not wait for
    intervals. What a method cannot compute is None.
    """

    @property
    def thresholds(self) -> Thresholds | None:
        """One cut per relation, in units of the pool's own scores, with an interval where the method knows one.

        None where no cut decides as :meth:`accepts` does: the method needs an answer first, or decides by more than
        the score.
        """

    def accepts(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples are accepted, shape (M,); refused while the method needs an answer first."""

    @property
    def posterior(self) -> Posterior | None:
        """The posterior of all relations' curves; None if the method has none."""

    @property
    def squash(self) -> Squash | None:
        """How the method saw the scores; None if as they are."""

    def probabilities(self, triples: ScoredTriples) -> FloatArray | None:
        """Return P(true) of any triples, shape (M,); None if the method decides without probabilities."""

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge, none of them judged; possible before the first answer."""


@runtime_checkable
class Method(Protocol):
    """What the calibrator, the experiment and the command line ask of a method.

    It may also have ``find_cuts(pool, answer_sets)``, which returns the cuts of many sets of answers at once, shape
    (S, R + 1), the default last: an experiment is quicker by it; see :func:`finds_cuts`.
    """

    @property
    def summary(self) -> str:
        """One line on what it is."""

    @property
    def selector(self) -> Any:
        """A name in ``SELECTORS`` or a function; ``random`` means that an experiment's shared draws are used."""

    @property
    def is_random(self) -> bool:
        """Whether it picks at random; if not, one repeat of an experiment is enough."""

    @property
    def reads(self) -> str:
        """What it reads beside the pool: ``known`` triples' scores, the graph's ``evidence``, or nothing (``pool``)."""

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before fitting again, when so many are judged."""

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> Fit:
        """Return what it makes of the answers."""


def finds_cuts(method: Method) -> bool:
    """Return True if a method is of the paper's kind: cuts in scores from 0 to 1, from one answer on."""
    return hasattr(method, "find_cuts")


def warn_of_scores(method: Method, pool: ScoredTriples) -> None:
    """Warn where a method reads scores as log-odds that look like a model's own."""
    takes_log_odds = method.reads == "evidence" and not pool.pieces
    if takes_log_odds and len(pool) and pool.scores.min() >= 0 and pool.scores.max() <= 1:
        LOG.warning(
            "The method reads scores as log-odds, of which 0 is a probability of one half, but all of these lie "
            "between 0 and 1, as a model's own do. Score them first with `actc evidence`, or use the method pooled."
        )


def thresholds_of(fit: Fit) -> Thresholds:
    """Return the thresholds of a fit; refuse one that decides by more than the score."""
    if fit.thresholds is None:
        raise OptionError(
            "No threshold on the score decides as this fit does: answers moved the weights of the evidence. Use "
            "`fit.accepts`, or leave the weights as they are with pooled-evidence:move=false."
        )
    return fit.thresholds


def find_method(text: str | Method) -> Method:
    """Return a method by name, with options (``actc-lr-rndm:n=50,soft=true``) or from a module (``module:name``).

    This imports the module, from the working folder if it is nowhere else. A name that stands in a file is one for
    :func:`named_method`, which imports nothing.
    """
    if not isinstance(text, str):
        return _check_method(text, repr(text))
    if not names_module(text):
        return named_method(text)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    name, _, attribute = text.partition(":")
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        message = " ".join(f"{error}".split()) or type(error).__name__
        raise ActcError(f"The module {name!r} of the method {text} cannot be imported: {message}.") from error
    if not hasattr(module, attribute):
        raise ActcError(f"The module {name!r} has nothing called {attribute!r}.")
    IMPORTED[text] = _check_method(getattr(module, attribute), text)
    return IMPORTED[text]


def named_method(text: str) -> Method:
    """Return a method by name, and import nothing: for names out of files, which strangers may have written.

    One from a module is returned if :func:`find_method` imported it before, for somebody who may name code.
    """
    name, _, rest = text.partition(":")
    if name in METHODS:
        return _with_options(name, METHODS[name], rest) if rest else METHODS[name]
    if text in IMPORTED:
        return IMPORTED[text]
    if names_module(text):
        raise OptionError(
            f"The file names a method of somebody's own, {text}, which is code that would be run. If you trust it, "
            f"allow it: actc --allow-method {text} (in Python: actc.methods.named.find_method first)."
        )
    raise ChoiceError("method", name, METHODS)


def names_module(text: str) -> bool:
    """Return True if a method's name is one of a module (``module:name``), which has to be imported."""
    name, _, rest = text.partition(":")
    return name not in METHODS and bool(rest) and "=" not in rest


def _with_options(name: str, method: Any, rest: str) -> Method:
    choices, changes = _options_of(method), {}
    truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        key, value = key.strip().replace("-", "_"), value.strip()
        if not equals:
            raise OptionError(f"{name}: {part!r} is no option; write option=value, such as n=50.")
        check_choice(f"option of {name}", key, choices)
        kind = type(choices[key])
        try:
            changes[key] = truth[value.lower()] if kind is bool else kind(value)
        except (ValueError, KeyError):
            wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "a name")
            raise OptionError(f"{name}: {key}={value} is not understood; {key} takes {wanted}.") from None
    return replace(method, **changes)  # type: ignore[no-any-return]


def _options_of(method: Any) -> dict[str, Any]:
    """Return the fields of a method but for its summary; of one without fields, none."""
    names = [field.name for field in fields(method)] if is_dataclass(method) else []
    return {name: getattr(method, name) for name in names if name != "summary"}


def explain_options(method: Any) -> dict[str, tuple[str, str]]:
    """Return the value and the meaning of each option of a method, as the docstring of its class has it."""
    text = inspect.getdoc(type(method)) or ""
    meanings = dict(re.findall(r"^(\w+) : .*\n((?:    .*(?:\n|$))+)", text, re.MULTILINE))
    return {
        name: (str(value).lower(), " ".join(meanings.get(name, "").split()).replace("``", ""))
        for name, value in describe_options(method).items()
    }


def describe_options(method: Any) -> dict[str, Any]:
    """Return a method's options as plain values, for a record of what was run."""
    return {name: v if isinstance(v, str | int | float | bool) else repr(v) for name, v in _options_of(method).items()}


def _check_method(method: Any, name: str) -> Method:
    if isinstance(method, type):
        raise OptionError(f"{name} is a class, not a method; name an object of it, such as {method.__name__}().")
    if not isinstance(method, Method):
        missing = [word for word in vars(Method) if not (word.startswith("_") or hasattr(method, word))]
        raise OptionError(
            f"{name} is no method: it has no {', '.join(missing)}. Build on actc.methods.three_steps.SelectingMethod, "
            "as docs/how-to/own-method.md shows."
        )
    return method


METHODS: dict[str, Method] = {
    "actc-lr-rndm": Actc("ACTC: random triples, logistic regression, best accuracy"),
    "actc-gp-rndm": Actc("ACTC: random triples, Gaussian process, best accuracy", estimator="gp"),
    "actc-lr-dens": Actc("ACTC: triples nearest the mean score, logistic regression, best accuracy", "nearest-mean"),
    "actc-gp-dens": Actc("ACTC: triples nearest the mean score, Gaussian process, best accuracy", "nearest-mean", "gp"),
    "actc-lr-rndm-f1": Actc("ACTC: random triples, logistic regression, best F1", objective="f1"),
    "actc-gp-rndm-f1": Actc("ACTC: random triples, Gaussian process, best F1", estimator="gp", objective="f1"),
    "actc-lr-dens-f1": Actc("ACTC: triples nearest the mean, logistic regression, best F1", "nearest-mean", "lr", "f1"),
    "actc-gp-dens-f1": Actc("ACTC: triples nearest the mean, Gaussian process, best F1", "nearest-mean", "gp", "f1"),
    "actc-lr-uni": Actc("ACTC with one threshold for all relations, logistic regression", uniform=True),
    "actc-gp-uni": Actc("ACTC with one threshold for all relations, Gaussian process", estimator="gp", uniform=True),
    "localopt-acc": LocalOpt("Baseline: each relation's best cut among its annotations, by accuracy"),
    "localopt-f1": LocalOpt("Baseline: each relation's best cut among its annotations, by F1", objective="f1"),
    "localopt-acc-uni": LocalOpt("Baseline: one best cut among all annotations, by accuracy", uniform=True),
    "localopt-f1-uni": LocalOpt("Baseline: one best cut among all annotations, by F1", objective="f1", uniform=True),
    "globalopt-f1": GlobalOpt("Baseline: grid search, relation by relation, for the F1 over all annotations"),
    "pooled": Pooled(
        "Ours: one model over all relations, triples where a label changes most decisions; works without labels"
    ),
    "pooled-rndm": Pooled("Ours: one model over all relations, random triples", "random"),
    "pooled-known": Pooled("Ours: pooled, with the scores of known triples", reads="known"),
    "pooled-known-rndm": Pooled("Ours: pooled, with known triples' scores, random triples", "random", reads="known"),
    "pooled-evidence": Pooled(
        "Ours: pooled, over log-odds by the graph's evidence for each candidate", reads="evidence"
    ),
    "pooled-evidence-rndm": Pooled(
        "Ours: pooled, over log-odds by the graph's evidence, random triples", "random", reads="evidence"
    ),
}
