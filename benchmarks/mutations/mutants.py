"""Lines of the four folders that decide what comes out, each with a fault that somebody could make.

By folder and file: the text as it stands (it must be there once), what it becomes, and words in the names of the tests
that should notice (as pytest's ``-k`` takes them). None is equivalent: each makes some answer wrong.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One change: in which file below ``src/actc``, what, into what, and the tests that should notice."""

    file: str
    old: str
    new: str
    words: str
    tests: tuple[str, ...]


THREE_STEPS = {
    "baselines.py": (
        ("in list(range(relations)) * passes:", "in list(range(relations))[::-1] * passes:", "follows"),
        ("[:, None] >= grid\n", "[:, None] > grid\n", "on_the_grid"),
        ("np.argmax(quality[:, :columns], axis=1)", "np.argmax(quality, axis=1)", "ends_on"),
        ("now_true = rest_true + trues[every, relation, new]", "now_true = rest_true", "follows"),
        ("default = grid[best_for_all] if fixed_default is None", "default = grid[best_for_all] if True", "unseen"),
    ),
    "choose_thresholds.py": (
        ("where = np.flatnonzero(is_best)\n", "where = np.flatnonzero(is_best)[::-1]\n", "brute"),
        ("run_starts[starts] = True", "run_starts[starts[:1]] = True", "do_not_touch"),
        ("tally.below - tally.true_below + tally.true_above", "tally.below + tally.true_above", "brute"),
        (
            "tally.above + tally.true_above + tally.true_below, 1e-300",
            "tally.above + tally.true_above, 1e-300",
            "brute",
        ),
        ("cuts[found] = np.where(best > 0,", "cuts[found] = np.where(best >= 0,", "printed"),
    ),
    "estimate_labels.py": (
        ("size // np.maximum(missing, 1) + 1, 0)", "size // np.maximum(missing, 1), 0)", "plain"),
        ("pool.ranks[k - 1 :: k]", "pool.ranks[::k]", "plain"),
        ("((groups.rows + 1) % np.maximum(stride, 1) == 0)", "(groups.rows % np.maximum(stride, 1) == 0)", "plain"),
        ("np.zeros(len(chosen)), np.ones(len(chosen))]", "np.ones(len(chosen)), np.zeros(len(chosen))]", "plain"),
        ("(group >= 0) & (self.groups.sizes[group] > 0)", "(group >= 0)", "everyone"),
        ("strides[groups.is_default] = 0", "strides[~groups.is_default] = 0", "rest_on"),
        (
            "return self.probabilities(scores, group) > 0.5",
            "return self.probabilities(scores, group) > 0.4",
            "above_one_half",
        ),
    ),
    "groups.py": (
        ("np.where(np.isnan(table), table[:, -1:], table)", "np.where(np.isnan(table), table[:, :1], table)", "gaps"),
        ("np.argsort(group * len(pool) + pool.ranks[rows])", "np.argsort(group, kind='stable')", "sorted"),
    ),
    "logistic.py": (
        ("total(error * x) + penalty * slope, total(error)", "total(error * x), total(error)", "thousands"),
        ("return self._logits(scores, group) > 0", "return self._logits(scores, group) > 0.5", "hard_answer"),
    ),
    "select_triples.py": (
        ("return np.flatnonzero(~judged)", "return np.arange(len(pool))", "never_repeats"),
        ("count, -_squared_distance(pool))", "count, _squared_distance(pool))", "nearest_mean"),
        ("count, np.abs(0.5 - estimate()))", "count, 0.5 - estimate())", "uncertainty_takes"),
        ("/ pool.weights[rows]", "* pool.weights[rows]", "random_picks"),
        ("_squared_distance(pool) + np.var(pool.scores)", "_squared_distance(pool)", "density_weighted"),
        ("np.lexsort((pool.keys[rows], values[rows]))", "np.argsort(values[rows], kind='stable')", "ties"),
        ("np.full(len(rows), chosen.uniform)", "np.full(len(rows), False)", "mark"),
        ("if not 0 <= count <= left:", "if not 0 <= count <= len(pool):", "more_than"),
    ),
    "squash_scores.py": (
        ("return np.clip(inverse, np.nextafter(edges[place], np.inf), edges[place + 1])", "return cuts", "undone"),
        ("np.clip(inverse, np.nextafter(edges[place], np.inf), edges[place + 1])", "inverse", "undone"),
        ("np.nextafter(edges[place], np.inf), edges", "edges[place], edges", "neighbouring"),
    ),
}

POOLED = {
    "features.py": (
        ("shrink = counts / (counts + TUNED.shrink)", "shrink = np.minimum(counts, 1)", "version_answers"),
        ("np.where(told, second, 1.0) ** 1.5, -3, 3)", "np.where(told, second, 1.0), -3, 3)", "version_answers"),
        ("gap - np.average(gap[told], weights=counts[told])", "gap - np.average(gap[told])", "average_triple"),
        ("known_counts >= TUNED.known_enough", "known_counts > TUNED.known_enough", "five_known"),
        ("weight @ skew - skew", "skew - weight @ skew", "version_answers"),
        ("counts[:, None] / POINTS - 0.5\n", "counts[:, None] / POINTS\n", "version_answers"),
        (
            "return (self.sizes / np.maximum(self.counts, 1))[self.relations]",
            "return np.ones(len(self.relations))",
            "drawn_as_from",
        ),
        ("0.5 / count, 1 - 0.5 / count)", "0.0, 1.0)", "version_answers"),
    ),
    "model.py": (
        ("(of_slope + 2 * count)", "(of_slope + count)", "version_answers"),
        (
            "(self.freedom * sd**2 + square) / (self.freedom + 1)",
            "(self.freedom * sd**2 + square) / self.freedom",
            "version_answers",
        ),
        ("np.where(height < 0, beta[..., 1]", "np.where(height > 0, beta[..., 1]", "version_answers"),
        (
            "covariance = own + follow @ theta_covariance @ follow.transpose(0, 2, 1)",
            "covariance = own",
            "version_answers",
        ),
        ("np.clip(p[np.argmax(expected)], 1e-6, 0.5)", "np.clip(p[np.argmax(expected)], 1e-6, 1.0)", "rather_true"),
        ("self.least_trust + (1 - self.least_trust) * pool.agreement", "self.least_trust", "version_answers"),
        ('"diff": (zero, -one, one)', '"diff": (zero, one, -one)', "version_answers"),
        ("(np.cumsum(weight) + true[-1])", "np.cumsum(weight)", "version_answers"),
    ),
    "picks.py": (
        ("count >= TUNED.audit_from and", "count > TUNED.audit_from and", "fiftieth"),
        ("0.5 * k * self.share[relations, None]", "0.5 * self.share[relations, None]", "version_answers"),
        ("np.exp(-0.5 * t * t) - t * ndtr(-t)", "np.exp(-0.5 * t * t) + t * ndtr(-t)", "version_answers"),
        (
            "weight) / _IMAGINED[:, None, None]\n        return np.asarray(np.maximum(",
            "weight)\n        return np.asarray(np.maximum(",
            "version_answers",
        ),
        ("V - reach[:, :, None]", "V + reach[:, :, None]", "version_answers"),
        ("above - high + 1 < low - below", "above - high + 1 > low - below", "nobody_left"),
        (
            "return place - bisect_left(self.taken, place)",
            "return place - bisect_right(self.taken, place)",
            "places_and",
        ),
        (
            "share = self.left * (self.pool.sizes / np.maximum(self.pool.counts, 1))[:-1]",
            "share = self.left * 1.0",
            "drawn_as_from",
        ),
        ("pairs /= 1 + t * (np.sqrt(np.pi / 2) + t)", "pairs /= 1 + 9 * t * (np.sqrt(np.pi / 2) + t)", "raced"),
        ("race.label(relation)\n", "pass\n", "version_answers"),
    ),
    "overrule.py": (
        ("if len(annotations) < TUNED.overrule_from:", "if len(annotations) <= TUNED.overrule_from:", "two_hundred"),
        (" + TUNED.walk * np.sqrt(np.abs(best - own))", "", "version_answers"),
        (
            "worth = slots.worth + TUNED.line_counts * _line_worth(posterior, slots)",
            "worth = slots.worth + 0.0",
            "version_answers",
        ),
        ("worth[slots.x_below == slots.x_above] = -np.inf", "pass", "equal_scores"),
        (
            "gain = np.where(annotations.labels[order], 1.0, -1.0)",
            "gain = np.where(annotations.labels[order], 1.0, 0.0)",
            "version_answers",
        ),
        ("below=_spread(position, label_slot + 1,", "below=_spread(position, label_slot,", "version_answers"),
    ),
    "draws.py": (
        ("np.sqrt(np.maximum(values, 0))", "np.maximum(values, 0)", "agree_with"),
        ("np.where(accepted, p, 1 - p)\n    size", "np.where(accepted, p, p)\n    size", "foreseen_to"),
        ("[(1 - level) / 2, (1 + level) / 2], axis=0", "[1 - level, level], axis=0", "version_answers"),
        ("np.sqrt(variance) * random", "0 * np.sqrt(variance) * random", "otherwise"),
        ("np.maximum(p, 1 - p) - right", "np.maximum(p, 1 - p)", "foreseen_to"),
    ),
    "sketch.py": (
        ("starts + (stretch + 1) * counts // POINTS", "starts + stretch * counts // POINTS + 1", "every_stretch"),
        (
            "rows = np.union1d(_choose_rows(whole, sample, np.random.default_rng(seed)), judged)",
            "rows = _choose_rows(whole, sample, np.random.default_rng(seed))",
            "judged_triples",
        ),
        (
            "keep = np.unique(np.r_[ends, even, len(normal.scores) - 1 - ends])",
            "keep = np.unique(np.r_[0, even, len(normal.scores) - 1])",
            "thinned",
        ),
        ("x=whole.x[rows],", "x=whole.x[np.sort(whole.places[rows])],", "keep_their"),
    ),
    "method.py": (("prior: str = ", 'prior: str = "v1" or ', "shipped_version"),),
}

TRUST = {
    "ask.py": (
        (
            "np.where(accept, 1 - probability, probability) +",
            "np.where(accept, probability, 1 - probability) +",
            "not_asked",
        ),
        ("np.argsort(-self.worth[rows], kind", "np.argsort(self.worth[rows], kind", "queue"),
        ("return ThreeWay(accept & ~ask, ask", "return ThreeWay(accept, ask", "queue"),
        ("best.sum() * BATCH / max(len(best), 1)", "best.sum()", "next_ten"),
        (
            "+ gain_beyond(posterior, x, codes)\n",
            "+ 0 * gain_beyond(posterior, x, codes)\n",
            "early_answer",
        ),
        (
            "np.sort(expected_gains(posterior).max(axis=1))[::-1][:BATCH]",
            "np.sort(expected_gains(posterior).max(axis=1))[:BATCH]",
            "next_ten",
        ),
    ),
    "audit.py": (
        ("np.bincount(place)), count) + 1", "np.bincount(place)), count)", "whole_entities or never_repeats"),
        ("whole = (judged == np.bincount(groups)) & (judged > 0)", "whole = judged > 0", "in_part"),
        ("first[largest] = sizes[largest] > 0", "first[largest] = 0", "rare_relation"),
        ("return high - audit.judged", "return high", "said_to_certify or fewer"),
        ("worth = audit.effective / audit.judged", "worth = 1.0", "worth_less"),
        (
            'found["anytime"] = anytime(trues, judged, level, total)',
            'found["anytime"] = anytime(trues, judged, level)',
            "everything_is",
        ),
        ("binom.sf(trues - 1, judged, expected)", "binom.sf(trues, judged, expected)", "both_sides"),
        ("or audit.share <= target:", "or audit.share < 0:", "said_to_certify"),
        ("if audit.interval.low >= target:", "if audit.share >= target:", "said_to_certify"),
    ),
    "discrepancy.py": (
        ("logits - without * (labels - p)", "logits + without * (labels - p)", "taking"),
        ("squares - seen * mean**2 + 2 * bernoulli", "squares - seen * mean**2", "looks_alike"),
        (
            "weight = believed_error / (believed_error + error)",
            "weight = error / (believed_error + error)",
            "correction",
        ),
        ("np.sqrt(believed_error * (1 - weight))", "np.sqrt(believed_error)", "correction"),
        (".mean()) / count + variance", ".mean()) / count", "admits"),
        ("return self.labels - self.probabilities", "return self.probabilities - self.labels", "residuals"),
        ("degrees / np.maximum(weight, 0.05)", "degrees", "belief"),
    ),
    "expect.py": (
        (
            "np.where(took, shifts[0][:, None], shifts[1][:, None])",
            "np.where(took, shifts[1][:, None], shifts[0][:, None])",
            "moves_precision",
        ),
        ("right = true_accepted + (size - count - true_rejected)", "right = true_accepted + (size - count)", "four"),
        (
            "seen = (looks.residuals[above], looks.residuals[~above])",
            "seen = (looks.residuals[~above], looks.residuals[above])",
            "moves_precision",
        ),
        ("alone = surprise < TUNED.surprise and", "alone = surprise > TUNED.surprise and", "rests_on"),
        ("np.clip(share + luck, 0, 1) * size", "np.clip(share, 0, 1) * size", "small_target"),
        (
            "f1=2 * true_accepted / np.maximum(true + count, 1e-9)",
            "f1=2 * true_accepted / np.maximum(true + size, 1e-9)",
            "four",
        ),
        ("[(1 - level) / 2, (1 + level) / 2])", "[1 - level, level])", "as_much_below"),
    ),
    "intervals.py": (
        ("tail = (1 - level) / 2\n    low", "tail = 1 - level\n    low", "scipys"),
        ("limit = -np.log(total + 1) + np.log1p(-level)", "limit = -np.log(total) + np.log1p(-level)", "prior_over"),
        ("left = 1 - judged[seen] / sizes[seen]", "left = np.ones(int(seen.sum()))", "which_most"),
        ("Interval(low, high + 1 - covered)", "Interval(low, high)", "nobody_looked"),
        ("left * clusters / (clusters - 1) *", "left *", "few_clusters"),
        (
            "shrink = (t.ppf((1 + level) / 2, answers - 1) / t.ppf((1 + level) / 2, clusters - 1)) ** 2",
            "shrink = 1.0 + 0 * t.ppf(0.5, 1)",
            "few_clusters",
        ),
        ("left = 1 - clusters / total if total else 1.0", "left = 1.0", "few_clusters"),
    ),
    "promise.py": (
        (
            "return (int(kept[-1]) + 1, float(chance[kept[-1]]))",
            "return (int(kept[0]) + 1, float(chance[kept[0]]))",
            "smaller_demand or nine",
        ),
        ("scale = scale * np.sqrt(1 + TUNED.unseen / (1 + place))", "pass", "nobody_looked"),
        ("np.maximum(off.mean, 0) if upward else np.minimum(off.mean, 0)", "off.mean", "good_news or nine"),
        (
            "chance = (lists.accepted >= demand.target)",
            "chance = (lists.accepted >= demand.target - 0.05)",
            "nine or smaller",
        ),
        ("if cost[best] < nothing else", "if True else", "costs_more"),
        (
            "wrong = (1 - lists.accepted) * lists.sizes * demand.target",
            "wrong = (1 - lists.accepted) * lists.sizes",
            "dearer",
        ),
        ('cuts[-1] = -np.inf if demand.kind == "recall" else np.inf', "cuts[-1] = -np.inf", "left_out"),
        (
            "off = off.where((wide >= TUNED.window) & (news > TUNED.contradicts * alone.scale), alone)",
            "pass",
            "speak_alone",
        ),
        ("(found >= demand.target * (found + missed))", "(found >= demand.target * found)", "recall"),
        ("& lists.whole)\n    return (int", ")\n    return (int", "one_probability or nine"),
        (
            'np.searchsorted(-heard, -bars, side="right")',
            'np.searchsorted(-heard, -bars, side="left") * 0',
            "nobody_looked or nine or overrule",
        ),
    ),
    "shift.py": (
        ("self.pool == 0 or (self.chance", "(self.chance", "lacks"),
        ("self.chance < SURPRISE and self.stability > NOTABLE", "self.stability > NOTABLE", "few_triples"),
        ("np.abs(p - q).sum() / 2 - expected", "np.abs(p - q).sum() - expected", "share_that"),
        ("np.abs(p - q).sum() / 2 - expected,", "np.abs(p - q).sum() / 2,", "share_that"),
    ),
}

SESSION = {
    "plan.py": (
        ("WHERE task.triple = plan.triple AND answered > 0)", "WHERE 0)", "while_a_plan"),
        ("EXISTS (SELECT 1 FROM lease WHERE lease.triple = plan.triple) OR", "0 OR", "while_a_plan"),
        ("if newest > last:", "if newest < last:", "newer_answers"),
        ("WHERE answered > 0 UNION SELECT triple FROM lease", "WHERE answered > 0", "never_short"),
        ("1 + int(np.random.default_rng([settings.seed, row]).random() < settings.overlap)", "2", "share_of_triples"),
        ("picks.take(np.flatnonzero(~np.isin(picks.rows, busy)))", "picks", "somebodys or never_short"),
        ("not (short and self._untouched() > 0)", "True", "runs_short"),
        ("np.clip(recent, LEAST_PLANNED, MOST_PLANNED)", "np.clip(recent, 1, MOST_PLANNED)", "never_short"),
    ),
    "store.py": (
        ("labelled = labelled + (new.label IS NOT NULL)", "labelled = labelled + 1", "recount or kept_apart"),
        (
            "WHERE triple = new.triple AND new.annotator IN (SELECT id FROM people)",
            "WHERE triple = new.triple",
            "recount or kept_apart",
        ),
        ("repeated = repeated + (new.purpose = 'repeat')", "repeated = repeated + 1", "recount or kept_apart"),
        ("UPDATE annotator SET answered = answered - 1 WHERE id = old.annotator;", "", "recount or kept_apart"),
        (
            "WHEN (new.labelled > 0) != (old.labelled > 0)",
            "WHEN new.labelled > old.labelled",
            "recount or kept_apart",
        ),
        (
            "AFTER INSERT ON judgement WHEN new.said != 'undo' BEGIN",
            "AFTER INSERT ON judgement BEGIN",
            "recount or kept_apart",
        ),
        ("labelled = labelled - (old.label IS NOT NULL)", "labelled = labelled", "recount or kept_apart"),
        ('connection.execute("ROLLBACK TO one")', "pass", "bad_judgement"),
        ("for script in MIGRATIONS[version:]:", "for script in MIGRATIONS[1:]:", "recount or kept_apart"),
    ),
    "ask.py": (
        ("need = min(need, budget - _spoken_for(connection, now))", "pass", "budget"),
        ("WHERE expires > ? AND labelled = 0) FROM total", "WHERE expires > ?) FROM total", "one_place"),
        (
            "wanted > 1 AND wanted > answered AND wanted > answered + ",
            "wanted > 1 AND wanted > answered AND 2 > ",
            "two_hold",
        ),
        ("expires <= ?2 AND answered = 0 ", "expires <= ?2 ", "expired_triple"),
        ("if repeated + waiting >= int(repeats * judged):", "if repeated >= int(repeats * judged):", "their_share"),
        (
            '"min(coalesce(min(place), 0), 0) - 1" if in_front else',
            '"coalesce(max(place), 0) + 1" if in_front else',
            "in_order",
        ),
        ("AND ?5 > (SELECT count(*)", "AND ?5 >= (SELECT count(*)", "third_time"),
        ("(annotator.id, REPEAT_AFTER),", "(annotator.id, 0),", "last_triples"),
        (
            'UPDATE SET ({TASK}) = ({new})" if as_planned else "NOTHING"',
            'NOTHING" if as_planned else "NOTHING"',
            "program_judged",
        ),
        (
            "(now + LEASE_SECONDS, annotator.id))",
            "(now + 60, annotator.id))",
            "goes_on",
        ),
    ),
    "record.py": (
        ('if judgement.said != "undo" and purpose != "repeat":', 'if judgement.said != "undo":', "first_answer"),
        ("j.said != 'undo' AND u.id IS NULL {wanted}", "j.said != 'undo' {wanted}", "undo"),
        ("AND j.purpose != 'repeat' AND u.id IS NULL", "AND u.id IS NULL", "taken_back"),
        ('if old["said"] != judgement.said or', "if", "another_answer"),
        (
            '"DELETE FROM lease WHERE annotator = ? AND triple = ?"',
            '"DELETE FROM lease WHERE annotator = ? AND triple = ? AND 0"',
            "survive or bad_judgement",
        ),
    ),
    "combine.py": (
        ("order = order[leaning[order] != 0]", "pass", "two_against"),
        ("leaning[place[votes.final]] =", "_ =", "outweighs_any"),
        ("right = np.where(votes.labels, true[place], 1 - true[place])", "right = true[place]", "reliable_pair"),
        ("order = np.argsort(first)\n", "order = np.arange(len(first))\n", "first_judged"),
        ("np.where(np.abs(log_odds) < 1e-9, 0.0, log_odds)", "log_odds", "two_against"),
    ),
    "agreement.py": (
        ("a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())", "a.mean() * b.mean()", "cohen"),
        ("kept = ~votes.final\n", "kept = np.ones(len(votes), dtype=bool)\n", "owners_decision"),
        ("(total * (total - 1))", "(total * total)", "by_hand"),
    ),
    "program.py": (
        (
            "judged = [row for row in labels.rows.tolist() if row not in done]",
            "judged = labels.rows.tolist()",
            "asked_twice",
        ),
        (
            "for row in picks.rows.tolist() if row not in done][:count]",
            "for row in picks.rows.tolist()][:count]",
            "asked_twice",
        ),
    ),
    "results.py": (
        ("accepted[self.annotations.rows] = self.annotations.labels", "pass", "people_decided"),
        ("ANTI JOIN judged USING (head, relation, tail)", "", "last_word"),
    ),
    "exchange.py": (
        ('if told.get("said") != "undo" and not told.get("undone"):', 'if told.get("said") != "undo":', "come_back"),
        ("drop_from_plan(connection, [task])", "pass", "not_asked_any"),
        ('"undone": line["id"] in undone', '"undone": False', "come_back"),
    ),
    "outlook.py": (
        ("gain = min(weigh_next_answers(posterior).gain, most)", "gain = most", "outlook or stands_for or report_is"),
        ("float(pool.weights @ accepted)", "float(accepted.sum())", "stands_for"),
        (
            "np.lexsort((np.arange(count), -pool.relation_sizes, -labels))",
            "np.lexsort((np.arange(count), pool.relation_sizes, labels))",
            "outlook",
        ),
    ),
    "status.py": (
        ("GROUP BY triple HAVING min(label) != max(label))", "GROUP BY triple)", "last_word"),
        ("AND purpose = 'repeat' AND said != 'undo' ", "AND said != 'undo' ", "repeat"),
        (
            '"Stopping now loses little." if share < LITTLE_GAIN',
            '"Stopping now loses little." if share > LITTLE_GAIN',
            "advice",
        ),
    ),
}

TESTS = {
    "three_steps/baselines.py": ("tests/three_steps/test_baselines.py",),
    "three_steps/choose_thresholds.py": ("tests/three_steps/test_choose_thresholds.py",),
    "three_steps/estimate_labels.py": ("tests/three_steps/test_estimate_labels.py",),
    "three_steps/groups.py": ("tests/three_steps/test_groups.py", "tests/three_steps/test_choose_thresholds.py"),
    "three_steps/logistic.py": ("tests/three_steps/test_logistic.py",),
    "three_steps/select_triples.py": (
        "tests/three_steps/test_select_triples.py",
        "tests/session/test_session_large.py",
    ),
    "three_steps/squash_scores.py": ("tests/three_steps/test_squash_scores.py", "tests/test_calibrator.py"),
    "pooled/sketch.py": ("tests/pooled/test_sketch_pool.py",),
    "trust/ask.py": ("tests/trust/test_ask.py",),
    "trust/audit.py": ("tests/trust/test_audit.py",),
    "trust/discrepancy.py": ("tests/trust/test_discrepancy.py", "tests/trust/test_expect.py"),
    "trust/expect.py": ("tests/trust/test_expect.py",),
    "trust/intervals.py": ("tests/trust/test_intervals.py", "tests/trust/test_audit.py"),
    "trust/promise.py": ("tests/trust/test_promise.py",),
    "trust/shift.py": ("tests/trust/test_shift.py",),
    "session/plan.py": ("tests/session/test_session.py",),
    "session/store.py": tuple(f"tests/session/test_{name}.py" for name in ("store", "session", "session_answers")),
    "session/ask.py": ("tests/session/test_session.py", "tests/session/test_session_answers.py"),
    "session/record.py": ("tests/session/test_session.py",),
    "session/status.py": ("tests/session/test_session.py",),
    "session/results.py": ("tests/session/test_session_answers.py", "tests/session/test_session_large.py"),
    "session/outlook.py": ("tests/session/test_session.py", "tests/session/test_session_large.py"),
    "session/combine.py": ("tests/session/test_session_answers.py",),
    "session/agreement.py": ("tests/session/test_session_answers.py",),
    "session/program.py": ("tests/session/test_session_answers.py",),
    "session/exchange.py": ("tests/session/test_session_answers.py",),
}
"""Tests of a source file, where they are fewer than those of its folder: whoever waits for them is grateful."""
POOLED_TESTS = tuple(f"tests/pooled/test_{name}.py" for name in ("shipped_numbers", "pooled", "sketch_pool"))


def all_mutants() -> list[Mutant]:
    """Return every change, in the order of the tables above."""
    folders = {"three_steps": THREE_STEPS, "pooled": POOLED, "trust": TRUST, "session": SESSION}
    return [
        Mutant(f"{folder}/{name}", old, new, words, TESTS.get(f"{folder}/{name}", POOLED_TESTS))
        for folder, files in folders.items()
        for name, changes in files.items()
        for old, new, words in changes
    ]
