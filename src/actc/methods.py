"""Every named method: the paper's rows and ours, as combinations of the three steps.

A method is a frozen dataclass whose fields are its options, so that ``actc-lr-rndm:n=50,soft=true`` is the method
``actc-lr-rndm`` with two fields replaced. It answers three questions about a pool: which triples to judge next
(:meth:`Method.select`), where to cut (:meth:`Method.find_cuts`), how probable any triple is (:meth:`Method.estimate`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from actc.errors import ActcError, ChoiceError, OptionError
from actc.pooled.method import Foresight, Pooled
from actc.three_steps.baselines import global_opt, local_opt
from actc.three_steps.choose_thresholds import choose_as_printed, choose_thresholds
from actc.three_steps.estimate_labels import estimate_labels, estimate_triples
from actc.three_steps.groups import Groups
from actc.three_steps.select_triples import select_triples
from actc.triples import Annotations, FloatArray, IntArray, ScoredTriples


class Method(Protocol):
    """What the calibrator, the experiment and the command line ask of a method."""

    @property
    def summary(self) -> str:
        """One line on what it is."""
        ...

    @property
    def selector(self) -> Any:
        """A name in ``SELECTORS`` or a function; ``random`` means that an experiment's shared draws are used."""
        ...

    @property
    def wants_squashed(self) -> bool:
        """Whether it was made for scores in (0, 1)."""
        ...

    @property
    def least_budget(self) -> int:
        """How many annotations it cannot do without."""
        ...

    @property
    def needs_known(self) -> bool:
        """Whether it cannot do without the scores of known triples."""
        ...

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again, when so many are judged."""
        ...

    def select(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        count: int,
        random: np.random.Generator,
        known: ScoredTriples | None = None,
    ) -> IntArray:
        """Return the rows of the next triples to judge."""
        ...

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        ...

    def estimate(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        triples: ScoredTriples,
        known: ScoredTriples | None = None,
    ) -> FloatArray:
        """Return P(true) of any triples."""
        ...


@runtime_checkable
class Foresighted(Protocol):
    """A method that also says what to expect of itself."""

    def foresee(self, pool: ScoredTriples, annotations: Annotations, known: ScoredTriples | None = None) -> Foresight:
        """Return what one more label is expected to bring, and how far each cut may be off."""
        ...


class SelectingMethod:
    """The part that the paper's methods share: selection by a named selector."""

    selector: Any
    summary: str
    wants_squashed: ClassVar[bool] = True
    least_budget: ClassVar[int] = 1
    needs_known: ClassVar[bool] = False

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again: as many as there are."""
        return sys.maxsize

    def select(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        count: int,
        random: np.random.Generator,
        known: ScoredTriples | None = None,
    ) -> IntArray:
        """Return the rows of the next triples to judge."""

        def estimate(relation: int | None = None) -> FloatArray:
            return self.estimate(pool, annotations, pool if relation is None else pool.as_if(relation))

        return select_triples(pool, annotations, count, self.selector, random, estimate)

    def estimate(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        triples: ScoredTriples,
        known: ScoredTriples | None = None,
    ) -> FloatArray:
        """Refuse: this method has no probabilities."""
        raise OptionError("This method decides without probabilities; use an actc or a pooled method for them.")


@dataclass(frozen=True)
class Actc(SelectingMethod):
    """Active threshold calibration (Sedova & Roth 2023).

    Parameters
    ----------
    selector : str or callable
        Step 1, see ``SELECTORS``.
    estimator : str, callable or classifier
        Step 2, see ``ESTIMATORS``.
    objective : str or callable
        Step 3, see ``OBJECTIVES``.
    n : int
        The smallest decision set that is enough.
    soft, estimate_all : bool
        Probabilities as labels; estimates for every triple.
    default : {"estimates", "annotations"}
        What the default threshold rests on.
    uniform : bool
        One threshold for all relations.
    as_printed : bool
        Step 3 as Algorithm 1 is printed.
    """

    summary: str = ""
    selector: Any = "random"
    estimator: Any = "lr"
    objective: Any = "accuracy"
    n: int = 500
    soft: bool = False
    estimate_all: bool = False
    default: str = "estimates"
    uniform: bool = False
    as_printed: bool = False

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        _check_budgets(annotation_sets)
        if self.default not in DEFAULTS:
            raise ChoiceError("source of the default threshold", self.default, DEFAULTS)
        groups = Groups.of(pool, annotation_sets, self.uniform)
        if self.as_printed:
            return groups.fill_defaults(choose_as_printed(pool, groups))
        decision_sets = estimate_labels(
            pool, groups, self.estimator, self.n, self.soft, self.estimate_all, self.default == "annotations"
        )
        return groups.fill_defaults(choose_thresholds(decision_sets, self.objective))

    def estimate(
        self,
        pool: ScoredTriples,
        annotations: Annotations,
        triples: ScoredTriples,
        known: ScoredTriples | None = None,
    ) -> FloatArray:
        """Return P(true) of any triples, by the classifiers of step 2."""
        relations = pool.relation_names.translate(triples.relations, triples.relation_names)
        groups = Groups.of(pool, [annotations], self.uniform)
        return estimate_triples(pool, groups, self.estimator, triples.scores, relations)


@dataclass(frozen=True)
class LocalOpt(SelectingMethod):
    """The best cut among each relation's annotated scores (Safavi & Koutra 2020)."""

    summary: str = ""
    selector: Any = "random"
    objective: Any = "accuracy"
    uniform: bool = False

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        _check_budgets(annotation_sets)
        return local_opt(pool, Groups.of(pool, annotation_sets, self.uniform), self.objective)


@dataclass(frozen=True)
class GlobalOpt(SelectingMethod):
    """The best cuts on a grid for the F1 over all annotations (Speranskaya et al. 2020).

    Parameters
    ----------
    step, passes : float, int
        The grid's step; how often to go over the relations.
    default : {"found", "half"}
        Relations without annotations get the grid value that is best for all annotations, or 0.5.
    """

    summary: str = ""
    selector: Any = "random"
    step: float = 0.1
    passes: int = 1
    default: str = "found"

    def find_cuts(
        self, pool: ScoredTriples, annotation_sets: Sequence[Annotations], known: ScoredTriples | None = None
    ) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        _check_budgets(annotation_sets)
        if self.default not in GLOBAL_DEFAULTS:
            raise ChoiceError("default of GlobalOpt", self.default, GLOBAL_DEFAULTS)
        return global_opt(pool, annotation_sets, self.step, self.passes, GLOBAL_DEFAULTS[self.default])


def _check_budgets(annotation_sets: Sequence[Annotations]) -> None:
    if any(len(annotations) == 0 for annotations in annotation_sets):
        raise OptionError("This method needs at least one annotation; only the pooled methods work without any.")


def find_method(text: str | Method) -> Method:
    """Return a method by name, with options (``actc-lr-rndm:n=50,soft=true``) or from a module (``module:name``)."""
    if not isinstance(text, str):
        return text
    name, _, rest = text.partition(":")
    if name in METHODS:
        return _with_options(name, METHODS[name], rest) if rest else METHODS[name]
    if rest and "=" not in rest:
        return _import_method(name, rest)
    raise ChoiceError("method", name, METHODS)


def _with_options(name: str, method: Any, rest: str) -> Method:
    choices = {field.name: getattr(method, field.name) for field in fields(method) if field.name != "summary"}
    changes = {}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise OptionError(f"{name}: {part!r} is no option; write option=value, such as n=50.")
        if key not in choices:
            raise ChoiceError(f"option of {name}", key, choices)
        changes[key] = _parse(name, key, value.strip(), choices[key])
    return replace(method, **changes)  # type: ignore[no-any-return]


def _parse(name: str, key: str, value: str, like: Any) -> Any:
    truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    try:
        return truth[value.lower()] if isinstance(like, bool) else type(like)(value)
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(like), "a name")
        raise OptionError(f"{name}: {key}={value} is not understood; {key} takes {wanted}.") from None


def describe_options(method: Any) -> dict[str, Any]:
    """Return a method's options as plain values, for a record of what was run."""
    if not is_dataclass(method):
        return {}
    options = {field.name: getattr(method, field.name) for field in fields(method) if field.name != "summary"}
    return {name: v if isinstance(v, str | int | float | bool) else repr(v) for name, v in options.items()}


def _import_method(module: str, attribute: str) -> Method:
    try:
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    except ImportError as error:
        raise ActcError(
            f"The module {module!r} of the method {module}:{attribute} cannot be imported: {error}."
        ) from error
    except AttributeError:
        raise ActcError(f"The module {module!r} has nothing called {attribute!r}.") from None


DEFAULTS = ("estimates", "annotations")
GLOBAL_DEFAULTS: dict[str, float | None] = {"found": None, "half": 0.5}

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
    "pooled": Pooled("Ours: one model over all relations, labels where they pay; works from zero labels on"),
    "pooled-rndm": Pooled("Ours: one model over all relations, random triples", "random"),
    "pooled-known": Pooled("Ours: pooled, and the scores of known triples tell about relations", known=True),
    "pooled-known-rndm": Pooled("Ours: pooled, with known triples' scores, random triples", "random", known=True),
}
