"""Lines of the folders that decide what comes out, each with a fault that somebody could make.

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
        ("now_true = rest_true + trues[every, relation, new]", "now_true = rest_true", "follows"),
        ("default = grid[best_for_all] if fixed_default is None", "default = grid[best_for_all] if True", "unseen"),
    ),
    "choose_thresholds.py": (
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
    ),
    "groups.py": (
        ("np.where(np.isnan(table), table[:, -1:], table)", "np.where(np.isnan(table), table[:, :1], table)", "gaps"),
        ("np.argsort(group * len(pool) + pool.ranks[rows])", "np.argsort(group, kind='stable')", "sorted"),
    ),
    "select_triples.py": (
        ("_squared_distance(pool) + np.var(pool.scores)", "_squared_distance(pool)", "density_weighted"),
        ("if not 0 <= count <= left:", "if not 0 <= count <= len(pool):", "more_than"),
    ),
    "squash_scores.py": (
        ("return np.clip(inverse, above, edges[place + 1])", "return cuts", "undone"),
        ("np.clip(inverse, above, edges[place + 1])", "inverse", "undone"),
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
        ("several = max(_share_with_several", "several = min(_share_with_several", "look_like_proposals"),
        ("(counts >= TUNED.several)", "(counts >= TUNED.several - 1)", "no_lists"),
    ),
    "regimes.py": (
        ("trust = TUNED.listed_trust * pool.listed", "trust = 0.0", "look_like_proposals"),
        ("* (1 - agreement) ** 2", "", "version_answers"),
        ("kept /= kept + len(annotations)", "kept = 0.0", "counts_as_two"),
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
        (
            "weight) / _IMAGINED[:, None, None]\n        return np.asarray(np.maximum(",
            "weight)\n        return np.asarray(np.maximum(",
            "version_answers",
        ),
        ("V - reach[:, :, None]", "V + reach[:, :, None]", "version_answers"),
        (
            "return place - bisect_left(self.taken, place)",
            "return place - bisect_right(self.taken, place)",
            "places_and",
        ),
        ("race.label(relation)\n", "pass\n", "version_answers"),
        ("rejected = POINTS - taken", "rejected = POINTS - 1 - 0 * taken", "higher_promise"),
    ),
    "overrule.py": (
        (
            "TUNED.margin + TUNED.walk * np.sqrt(np.maximum(between, 0))",
            "TUNED.margin + 0.0 * between",
            "version_answers",
        ),
        ("- (own_accepts != accepts)", "", "others_would_choose"),
        ("worth[best_accepting] - slots.gain", "worth[best_accepting]", "others_would_choose"),
        ("worth - self._step(worth) * self.group", "worth", "others_would_choose"),
        ("won - 1 <=", "won <=", "fragile"),
        (
            "worth = slots.worth + TUNED.line_counts * _line_worth(posterior, slots)",
            "worth = slots.worth + 0.0",
            "version_answers",
        ),
    ),
    "sketch.py": (
        ("starts + (stretch + 1) * counts // POINTS", "starts + stretch * counts // POINTS + 1", "every_stretch"),
        (
            "keep = np.unique(np.r_[ends, even, len(normal.scores) - 1 - ends])",
            "keep = np.unique(np.r_[0, even, len(normal.scores) - 1])",
            "thinned",
        ),
        ("x=whole.x[rows],", "x=whole.x[np.sort(whole.places[rows])],", "keep_their"),
    ),
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
        ("+ gain_beyond(posterior, x, codes)\n", "+ 0 * gain_beyond(posterior, x, codes)\n", "early_answer"),
    ),
    "audit.py": (
        ("whole = (judged == np.bincount(groups)) & (judged > 0)", "whole = judged > 0", "in_part"),
        ("first[largest] = sizes[largest] > 0", "first[largest] = 0", "rare_relation"),
        ("return high - audit.judged", "return high", "said_to_certify or fewer"),
        ("or audit.share <= target:", "or audit.share < 0:", "said_to_certify"),
        ("if audit.interval.low >= target:", "if audit.share >= target:", "said_to_certify"),
    ),
    "certify.py": (
        ("judged - trues + counts - believed + 1.0", "judged - trues + counts - believed + 0.5", "exact_bound"),
        (" + 1 / np.maximum(sizes, 1)", "", "small_set"),
        ("could[0] + length - 1", "could[0] + length", "cut_together"),
    ),
    "discrepancy.py": (
        (
            "weight = believed_error / (believed_error + error)",
            "weight = error / (believed_error + error)",
            "correction",
        ),
        ("degrees / np.maximum(weight, 0.05)", "degrees", "belief"),
        ("(squares + 2 * (1 - shares) ** 2 + 2 * shares**2 - total**2 / count)", "(squares - seen * mean**2)", "looks"),
    ),
    "expect.py": (
        ("right = true_accepted + (size - count - true_rejected)", "right = true_accepted + (size - count)", "four"),
        ("[(1 - level) / 2, (1 + level) / 2])", "[1 - level, level])", "as_much_below"),
        ("return list(zip((strict, above)", "return list(zip((above, above)", "cut_of_the_others"),
        ("chosen = (cuts == find_cuts(posterior))", "chosen = (cuts == cuts)", "cut_of_the_others"),
    ),
    "intervals.py": (("tail = (1 - level) / 2\n    low", "tail = 1 - level\n    low", "scipys"),),
    "promise.py": (
        (" & answered_for & whole", " & whole", "ends_where"),
        ("scale = scale * np.sqrt(1 + TUNED.unseen / (1 + place))", "pass", "nobody_looked_at_each"),
        (
            "wrong = (1 - lists.accepted) * lists.sizes * demand.target",
            "wrong = (1 - lists.accepted) * lists.sizes",
            "dearer",
        ),
        (
            "off = off.where((wide >= TUNED.window) & (news > TUNED.contradicts * alone.scale), alone)",
            "pass",
            "for_their_relation",
        ),
    ),
    "shift.py": (
        ("np.abs(p - q).sum() / 2 - expected", "np.abs(p - q).sum() - expected", "share_that"),
        ("np.abs(p - q).sum() / 2 - expected,", "np.abs(p - q).sum() / 2,", "share_that"),
    ),
}

SESSION = {
    "plan.py": (
        ("WHERE task.triple = plan.triple AND answered > 0)", "WHERE 0)", "while_a_plan"),
        ("EXISTS (SELECT 1 FROM lease WHERE lease.triple = plan.triple) OR", "0 OR", "while_a_plan"),
        ("WHERE answered > 0 UNION SELECT triple FROM lease", "WHERE answered > 0", "never_short"),
        ("not (short and self._untouched() > 0)", "True", "runs_short"),
    ),
    "store.py": (
        (
            "WHERE triple = new.triple AND new.annotator IN (SELECT id FROM people)",
            "WHERE triple = new.triple",
            "recount or kept_apart",
        ),
        ('connection.execute("ROLLBACK TO one")', "pass", "bad_judgement"),
        ("for script in MIGRATIONS[version:]:", "for script in MIGRATIONS[1:]:", "recount or kept_apart"),
    ),
    "ask.py": (
        ("need = min(need, _left_of(budget, need, connection, now))", "pass", "budget"),
        ("if budget - labels - on_tables >= need:", "if budget - labels >= need:", "budget"),
        ("if planned >= people * need:", "if planned >= need:", "scarce"),
        (
            "wanted > 1 AND wanted > answered AND wanted > answered + ",
            "wanted > 1 AND wanted > answered AND 2 > ",
            "two_hold",
        ),
    ),
    "record.py": (
        ('if judgement.said != "undo" and purpose != "repeat":', 'if judgement.said != "undo":', "first_answer"),
        ("AND j.purpose != 'repeat' AND u.id IS NULL", "AND u.id IS NULL", "taken_back"),
        ('if old["said"] != judgement.said or', "if", "another_answer"),
        (
            '"DELETE FROM lease WHERE annotator = ? AND triple = ?"',
            '"DELETE FROM lease WHERE annotator = ? AND triple = ? AND 0"',
            "survive or bad_judgement",
        ),
    ),
    "agreement.py": (("share**2 + (1 - share) ** 2", "share**2", "fleiss or kappa"),),
    "program.py": (
        (
            "for row in picks.rows.tolist() if row not in done][:count]",
            "for row in picks.rows.tolist()][:count]",
            "asked_twice",
        ),
    ),
    "results.py": (("ANTI JOIN judged USING (head, relation, tail)", "", "last_word"),),
    "exchange.py": (
        ('if told.get("said") != "undo" and not told.get("undone"):', 'if told.get("said") != "undo":', "come_back"),
        ("drop_from_plan(connection, [task])", "pass", "not_asked_any"),
    ),
    "status.py": (("WHERE purpose = 'repeat' AND said != 'undo' ", "WHERE said != 'undo' ", "repeat"),),
}

JUDGES = {
    "ask_server.py": (
        ("if self.requests >= self.limit:", "if self.requests > self.limit:", "limit"),
        ('return text.replace(key, "(key)") if key else text', "return text", "nowhere_else"),
        ("self.resume_at - time.monotonic(), 0.0", "0.0", "left_alone"),
    ),
    "store.py": (("INSERT OR IGNORE INTO reply", "INSERT OR REPLACE INTO reply", "once"),),
    "worth.py": (
        ("0.0, if_true - if_false)", "0.0, if_true)", "adds_nothing"),
        ("before = np.nan_to_num(signals[:, :judge])", "before = 0 * signals[:, :judge]", "two_names"),
        ("start[0] = prior.weight", "start[0] = 0.0", "stated_prior"),
    ),
    "heed.py": (
        ("rest = Annotations(rows[~fold], self.answers.labels[~fold])", "rest = self.answers", "does_not_know"),
        ("kept = kept if self.blind is None else kept & self.blind", "kept = kept", "eye_on_the_judge"),
    ),
    "ppi.py": (
        ("left * (1 - count / total)", "left", "judged_whole"),
        ("return float(np.clip(together / (spread + 0.05), 0, 1))", "return 1.0", "hardly_wider"),
    ),
}
TESTS = {
    "three_steps/baselines.py": ("tests/three_steps/test_baselines.py",),
    "three_steps/choose_thresholds.py": ("tests/three_steps/test_choose_thresholds.py",),
    "three_steps/estimate_labels.py": ("tests/three_steps/test_estimate_labels.py",),
    "three_steps/groups.py": ("tests/three_steps/test_groups.py", "tests/three_steps/test_choose_thresholds.py"),
    "three_steps/select_triples.py": (
        "tests/three_steps/test_select_triples.py",
        "tests/session/test_session_large.py",
    ),
    "three_steps/squash_scores.py": ("tests/three_steps/test_squash_scores.py", "tests/test_calibrator.py"),
    "pooled/sketch.py": ("tests/pooled/test_sketch_pool.py",),
    "trust/ask.py": ("tests/trust/test_ask.py",),
    "trust/audit.py": ("tests/trust/test_audit.py",),
    "trust/certify.py": ("tests/trust/test_certify.py",),
    "trust/discrepancy.py": ("tests/trust/test_discrepancy.py", "tests/trust/test_expect.py"),
    "trust/expect.py": ("tests/trust/test_expect.py",),
    "trust/intervals.py": ("tests/trust/test_intervals.py", "tests/trust/test_audit.py"),
    "trust/promise.py": ("tests/trust/test_promise.py",),
    "trust/shift.py": ("tests/trust/test_shift.py",),
    "session/plan.py": ("tests/session/test_session.py",),
    "session/store.py": tuple(f"tests/session/test_{name}.py" for name in ("store", "session", "session_answers")),
    "session/ask.py": ("tests/session/test_session.py", "tests/session/test_session_answers.py"),
    "judges/ask_server.py": ("tests/judges/test_ask_server.py",),
    "judges/store.py": ("tests/judges/test_judge_session.py",),
    "judges/worth.py": ("tests/judges/test_worth.py",),
    "judges/heed.py": ("tests/judges/test_worth.py",),
    "judges/ppi.py": ("tests/judges/test_ppi.py",),
    "session/record.py": ("tests/session/test_session.py",),
    "session/status.py": ("tests/session/test_session.py",),
    "session/results.py": ("tests/session/test_session_answers.py", "tests/session/test_session_large.py"),
    "session/agreement.py": ("tests/session/test_session_answers.py",),
    "session/program.py": ("tests/session/test_session_answers.py",),
    "session/exchange.py": ("tests/session/test_session_answers.py",),
}
"""Tests of a source file, where they are fewer than those of its folder: whoever waits for them is grateful."""
POOLED_TESTS = tuple(f"tests/pooled/test_{name}.py" for name in ("shipped_numbers", "pooled", "regimes", "sketch_pool"))


def all_mutants() -> list[Mutant]:
    """Return every change, in the order of the tables above."""
    folders = {"three_steps": THREE_STEPS, "pooled": POOLED, "trust": TRUST, "session": SESSION, "judges": JUDGES}
    return [
        Mutant(f"{folder}/{name}", old, new, words, TESTS.get(f"{folder}/{name}", POOLED_TESTS))
        for folder, files in folders.items()
        for name, changes in files.items()
        for old, new, words in changes
    ]
