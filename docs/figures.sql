-- The figures of the docs that are held to committed rows. check_figures.py reads this and says how to add one.

-- CoDEx, by method, budget and cell: the mean of its repeats.
CREATE VIEW codex AS SELECT method, budget, dataset, model, avg(accuracy) AS accuracy, avg(f1) AS f1
FROM 'benchmarks/pooled/cells.csv.gz' GROUP BY ALL;
CREATE MACRO on_codex(m, b) AS (SELECT 100 * avg(accuracy) FROM codex WHERE method = m AND budget = b);
CREATE MACRO dot(share) AS ltrim(format('{:.3f}', share::DOUBLE), '0');
CREATE MACRO pair(accuracy, f1, digits) AS
format('{:.{}f}/{:.{}f}', 100 * avg(accuracy), digits, 100 * avg(f1), digits);

-- README.md: On CoDEx its accuracy is {:.1f}% without any answer and {:.1f}% after a hundred answers; the paper's ACTC-LR rndm then has {:.1f}%
SELECT on_codex('pooled', 0), on_codex('pooled', 100), on_codex('actc-lr-rndm', 100);
-- README.md: [On {} pools of all kinds](benchmarks/real/graphs.png) it is nowhere more than {:.1f} points below ACTC-LR rndm from ten answers on
WITH means AS (SELECT dataset, model, budget, 100 * avg(accuracy) FILTER (method = 'pooled') AS ours,
100 * avg(accuracy) FILTER (method = 'actc-lr-rndm') AS theirs FROM 'benchmarks/real/rows.csv.gz' WHERE budget >= 10 GROUP BY ALL)
SELECT count(DISTINCT (dataset, model)), max(theirs - ours) FROM means;
-- README.md: | {} | {} *{}* | {} *{}* | {} *{}* | {} *{}* |
WITH lines AS (SELECT regexp_extract(filename, 'table-(\w+)', 1) AS part, last_value(method IGNORE NULLS) OVER (PARTITION BY filename
ORDER BY file_row_number ROWS UNBOUNDED PRECEDING) AS method, column01 AS kind, "Avg" AS mean
FROM (SELECT *, row_number() OVER () AS file_row_number FROM read_csv(['benchmarks/paper/table-l1.csv', 'benchmarks/paper/table-l10.csv',
'benchmarks/paper/table-l50.csv', 'benchmarks/paper/table-avg.csv'], all_varchar = true, filename = true)))
SELECT method, max(mean) FILTER (part = 'l1' AND kind = 'ours'), max(mean) FILTER (part = 'l1' AND kind = 'paper'),
max(mean) FILTER (part = 'l10' AND kind = 'ours'), max(mean) FILTER (part = 'l10' AND kind = 'paper'),
max(mean) FILTER (part = 'l50' AND kind = 'ours'), max(mean) FILTER (part = 'l50' AND kind = 'paper'),
max(mean) FILTER (part = 'avg' AND kind = 'ours'), max(mean) FILTER (part = 'avg' AND kind = 'paper')
FROM lines WHERE method IN ('LocalOpt (Acc)', 'LocalOpt (F1)', 'GlobalOpt (F1)', 'ACTC-LR dens', 'ACTC-GP dens', 'ACTC-LR rndm', 'ACTC-GP rndm') GROUP BY method;

-- docs/evidence.md: | {}, {} | {} | {}, {} |
SELECT graph, kind, (SELECT string_agg(dot(ap), ', ' ORDER BY planted) FROM 'benchmarks/check/before.csv' r
WHERE (r.graph, r.kind) = (c.graph, c.kind)), dot(first_1_percent), dot(first_5_percent) FROM 'benchmarks/check/before.csv' c WHERE planted = 0.05
AND (graph, kind) IN (('codex-m', 'hard'), ('codex-m', 'slot'), ('codex-s', 'any'), ('fb15k-237', 'rules'), ('fb15k-237', 'slot'),
('nations', 'slot'), ('umls', 'slot'), ('wn18rr', 'any'), ('wn18rr', 'rules'));
-- docs/evidence.md: | {}, {} {:.0f}% | {} ({}) | {}, {} | {:.1f}% ({:.1f}% to {:.1f}%) |
SELECT graph, kind, 100 * planted, dot(now.ap), dot(old.ap), dot(now.ap_rest_before), dot(now.ap_rest_after), 100 * now.share,
100 * now.share_low, 100 * now.share_high FROM 'benchmarks/check/rows.csv' now JOIN 'benchmarks/check/before.csv' old USING (graph, kind, planted, repeat);
-- docs/evidence.md: an order at random has an average precision of {}, the list {} before any answer, {} after 20 answers, {} after 50 and {} after 100
SELECT dot(avg(chance) FILTER (answers = 100)), dot(avg(before) FILTER (answers = 100)), dot(avg(after) FILTER (answers = 20)),
dot(avg(after) FILTER (answers = 50)), dot(avg(after) FILTER (answers = 100)) FROM 'benchmarks/real/check_nell.csv' WHERE graph = 'nell';
-- docs/evidence.md: of 1,092 relations, go from {} to {} with 100 answers
SELECT dot(avg(before)), dot(avg(after)) FROM 'benchmarks/real/check_nell.csv' WHERE graph = 'dbpedia' AND answers = 100;
-- docs/evidence.md: Nothing was taken out unjudged in any of these runs
SELECT max(taken_out_unjudged) = 0 FROM 'benchmarks/real/check_nell.csv';
-- benchmarks/scale/README.md: A million facts take {:.0f} seconds of processor time and {:.1f} GB ([rows](../check/large.csv)); by the clock it was {:.0f} seconds
SELECT cpu_seconds, peak_memory_mb / 1000, ceil(wall_seconds) FROM 'benchmarks/check/large.csv';
-- docs/evidence.md: Of the first fifty doubtful facts of the packaged WordNet graph, {} are wrong, {} is outdated, {} is doubtful and {} are right; of UMLS, {} are wrong, {} is outdated, {} are doubtful and {} are right
SELECT * FROM (SELECT count(*) FILTER (verdict = 'wrong'), count(*) FILTER (verdict = 'outdated'), count(*) FILTER (verdict = 'doubtful'),
count(*) FILTER (verdict = 'right') FROM 'benchmarks/check/real.csv' WHERE graph = 'wordnet'),
(SELECT count(*) FILTER (verdict = 'wrong'), count(*) FILTER (verdict = 'outdated'), count(*) FILTER (verdict = 'doubtful'),
count(*) FILTER (verdict = 'right') FROM 'benchmarks/check/real.csv' WHERE graph = 'umls');

-- docs/trust.md: On {} facts of DBpedia that experts judged as well, the majority of three laymen agrees with the experts on {:.1f}%; Dawid and Skene's model, with one parameter a person on {:.1f}%, with two on {:.1f}%; with a fact's difficulty (GLAD) on {:.1f}%; calling every fact true, on {:.1f}%
WITH means AS (SELECT way, any_value(facts) AS facts, 100 * avg(agreement) AS agrees FROM 'benchmarks/real/people.csv'
WHERE learnt_from = 'left out' GROUP BY way)
SELECT any_value(facts), max(agrees) FILTER (way = 'majority'), max(agrees) FILTER (way = 'one'), max(agrees) FILTER (way = 'two'),
max(agrees) FILTER (way = 'difficulty'), max(agrees) FILTER (way = 'all true') FROM means;
-- docs/trust.md: standard errors ({:.1f} to {:.1f} points)
WITH means AS (SELECT way, 100 * avg(standard_error) AS error FROM 'benchmarks/real/people.csv'
WHERE learnt_from = 'left out' AND way NOT IN ('majority', 'all true') GROUP BY way) SELECT min(error), max(error) FROM means;
-- docs/trust.md: No difference is as large as two of its standard errors
SELECT max(difference / standard_error) < 2 FROM (SELECT avg(difference) AS difference, avg(standard_error) AS standard_error
FROM 'benchmarks/real/people.csv' WHERE standard_error > 0 GROUP BY way, learnt_from);
-- docs/pooled.md: | `{}` | {} | {} |
WITH by_budget AS (SELECT method, budget, pair(accuracy, f1, 1) AS shown FROM codex GROUP BY ALL),
of_ten AS (SELECT method, pair(accuracy, f1, 2) AS shown FROM codex WHERE budget > 0 GROUP BY method)
SELECT method, if(min(budget) > 0, '– | ', '') || string_agg(by_budget.shown, ' | ' ORDER BY budget), any_value(of_ten.shown)
FROM by_budget JOIN of_ten USING (method) GROUP BY method;
-- docs/pooled.md: `pooled` is better in {} in accuracy and {} in F1, `pooled-known` in {} and {}
SELECT count(*) FILTER (ours.method = 'pooled' AND ours.accuracy > paper.accuracy),
count(*) FILTER (ours.method = 'pooled' AND ours.f1 > paper.f1),
count(*) FILTER (ours.method = 'pooled-known' AND ours.accuracy > paper.accuracy),
count(*) FILTER (ours.method = 'pooled-known' AND ours.f1 > paper.f1)
FROM codex AS ours JOIN codex AS paper USING (dataset, model, budget) WHERE paper.method = 'actc-lr-rndm';
-- docs/pooled.md: `pooled-rndm` in {} and {}, `pooled-known-rndm` in {} and {}:
SELECT count(*) FILTER (ours.method = 'pooled-rndm' AND ours.accuracy > paper.accuracy),
count(*) FILTER (ours.method = 'pooled-rndm' AND ours.f1 > paper.f1),
count(*) FILTER (ours.method = 'pooled-known-rndm' AND ours.accuracy > paper.accuracy),
count(*) FILTER (ours.method = 'pooled-known-rndm' AND ours.f1 > paper.f1)
FROM codex AS ours JOIN codex AS paper USING (dataset, model, budget) WHERE paper.method = 'actc-lr-rndm';

-- Pools of every kind, in per cent by pool, method and budget; and by graph.
CREATE VIEW pools AS SELECT dataset, model, method, budget, 100 * avg(accuracy) AS accuracy
FROM 'benchmarks/real/rows.csv.gz' GROUP BY ALL;
CREATE VIEW proving AS SELECT dataset, method, budget, avg(accuracy) AS accuracy FROM pools GROUP BY ALL;
-- docs/pooled.md: | {} | {} |
SELECT ours.dataset, string_agg(format('{:.1f}', ours.accuracy) || coalesce(format(' ({:+.1f})', ours.accuracy - paper.accuracy), ''), ' | ' ORDER BY ours.budget)
FROM proving AS ours LEFT JOIN proving AS paper ON (paper.dataset, paper.budget, paper.method) = (ours.dataset, ours.budget, 'actc-lr-rndm')
WHERE ours.method = 'pooled' AND ours.budget IN (0, 1, 5, 10, 20, 50, 100) GROUP BY ours.dataset;
-- docs/pooled.md: no pool is it more than {:.1f} below `actc-lr-rndm` from ten answers on, nor more than {:.1f} at one to five
SELECT max(paper.accuracy - ours.accuracy) FILTER (ours.budget >= 10), max(paper.accuracy - ours.accuracy) FILTER (ours.budget < 10)
FROM pools AS ours JOIN pools AS paper USING (dataset, model, budget) WHERE ours.method = 'pooled' AND paper.method = 'actc-lr-rndm';

-- docs/pooled.md: `pooled` {:.1f} and {:.1f}, `actc-lr-rndm` {:.1f} and {:.1f}, global Platt scaling {:.1f} and {:.1f}
WITH means AS (SELECT method, 100 * avg(calibration_error) AS error, 100 * avg(brier) AS brier FROM 'benchmarks/pooled/probabilities.csv' GROUP BY method)
SELECT max(error) FILTER (method = 'pooled'), max(brier) FILTER (method = 'pooled'), max(error) FILTER (method = 'actc-lr-rndm'),
max(brier) FILTER (method = 'actc-lr-rndm'), max(error) FILTER (method = 'global Platt scaling'), max(brier) FILTER (method = 'global Platt scaling') FROM means;
-- docs/pooled.md: take {:.0f} to {:.0f} ms on one core
SELECT min(least(labels_11, labels_101, labels_1001)), max(greatest(labels_11, labels_101, labels_1001)) FROM 'benchmarks/pooled/cost.csv';

-- What one number of the priors changes, on the mean of all graphs and budgets.
CREATE VIEW trials AS SELECT t.trial, avg(t.accuracy - s.accuracy) AS difference FROM 'benchmarks/real/choices.csv' t
JOIN 'benchmarks/real/choices.csv' s USING (graph, budget) WHERE s.trial = 'shipped' AND t.trial <> 'shipped' GROUP BY t.trial;
-- docs/pooled.md: no change brings more than {:.2f} points of accuracy. Without the valleys {:.2f} points are lost, without the features in the intercept {:.2f}
SELECT max(difference), -min(difference) FILTER (trial = 'VALLEY_ANSWERS=0'), -min(difference) FILTER (trial = 'FEATURES_INTERCEPT=0') FROM trials;

-- Trust: audits.
-- docs/trust.md: | {} | {:.1f}% | {:,} | {:.0f} | {:.1f}% |
SELECT facts, 100 * truth, runs, answers, 100 * held FROM 'benchmarks/real/audit.csv';

-- Evidence.
CREATE VIEW evidence AS SELECT dataset, model, method, budget, pair(accuracy, f1, 1) AS shown
FROM 'benchmarks/evidence/bench.csv' GROUP BY ALL;
-- docs/evidence.md: | {}, {} | {} | {} |
SELECT dataset, if(model = 'complex', 'ComplEx', 'TransE'),
string_agg(shown, ' | ' ORDER BY budget) FILTER (method = 'pooled-evidence' AND budget IN (0, 50, 500)),
string_agg(shown, ' | ' ORDER BY budget) FILTER (method = 'pooled-known' AND budget IN (0, 50))
FROM evidence GROUP BY ALL;

-- Scale: the best of three in seconds, and the most memory.
CREATE VIEW scale AS SELECT rows, what, min(seconds) AS seconds, max(peak_mb) AS peak FROM 'benchmarks/scale/decide.csv' GROUP BY ALL;
CREATE MACRO share(of, million) AS (SELECT 100 * min(seconds) FILTER (what = 'bare-copy') / min(seconds) FILTER (what = of)
FROM scale WHERE rows = million * 1_000_000);
-- docs/how-to/decide-at-scale.md: | {} million | {} |
SELECT rows // 1_000_000, string_agg(format(if(seconds < 10, '{:.2f}, {}', '{:.1f}, {}'), round(seconds, if(seconds < 10, 2, 1)), peak), ' | ' ORDER BY
list_position(['bare-copy', 'decide-file', 'decide-folder', 'decide-probability', 'decide-best-tail'], what))
FROM scale GROUP BY rows;
-- benchmarks/scale/README.md: has {:.0f}% (one file) and {:.0f}% (folder) of the bare copy's throughput, {:.0f}% with probabilities
SELECT share('decide-file', 200), share('decide-folder', 200), share('decide-probability', 200);
-- benchmarks/scale/README.md: | {} | {:,} | {:.0f} | {:.0f} | {} | {:.1f} |
SELECT engine, facts, seconds, cpu_seconds, coalesce(CAST(exponent AS VARCHAR), ''), peak_mb / 1000 FROM 'benchmarks/scale/evidence.csv';
-- benchmarks/scale/README.md: {:.0f} core-seconds and {:.0f} MB of output for each million. A billion of both would be {:.0f} core-hours of DuckDB's kind of work and {:.0f} GB of output
SELECT cpu_seconds / n, written_mb / n, cpu_seconds / n / 3.6, written_mb / n
FROM (SELECT *, round(facts / 1e6) AS n FROM 'benchmarks/scale/evidence.csv' WHERE engine = 'duckdb' AND facts BETWEEN 9e5 AND 2e6);
-- benchmarks/scale/README.md: From one to thirty million it is {:.2f} in all
SELECT ln(max_by(cpu_seconds, facts) / min_by(cpu_seconds, facts)) / ln(max(facts) / min(facts))
FROM 'benchmarks/scale/evidence.csv' WHERE engine = 'duckdb' AND facts > 9e5;
-- benchmarks/scale/README.md: Spark took {:.0f} core-seconds for a tenth of a million and {:.0f} for a million: some {:.0f} to start, plan and compile 80 steps, whatever the size, and {:.0f} for each million
SELECT min(cpu_seconds), max(cpu_seconds), regr_intercept(cpu_seconds, facts), 1e6 * regr_slope(cpu_seconds, facts)
FROM 'benchmarks/scale/evidence.csv' WHERE engine = 'spark';
-- benchmarks/scale/README.md: | {} | {:,} | {} | {} |
SELECT command, relations, seconds, peak_mb FROM 'benchmarks/scale/relations.csv';
-- README.md: F1 is .{:.0f}; the best threshold on the same order has .{:.0f}
SELECT 100 * avg(f1), 100 * avg(best_f1) FROM 'benchmarks/evidence/unseen.csv' WHERE answers = 0;
-- docs/evidence.md: F1 .{:.0f}, .{:.0f} for the best threshold of the same order; AP .{:.0f}
SELECT 1000 * avg(f1), 1000 * avg(best_f1), 1000 * avg(ap) FROM 'benchmarks/evidence/unseen.csv' WHERE answers = 0;
-- docs/evidence.md: With 100 answers: F1 .{:.0f}. The stated interval held the precision in {} of {} cases
SELECT 1000 * avg(f1) FILTER (answers = 100),
count(*) FILTER (precision BETWEEN low AND high), count(*) FILTER (ranked_by = 'evidence') FROM 'benchmarks/evidence/unseen.csv';
-- README.md: 200 million candidates are decided in {:.0f} seconds
SELECT min(seconds) FILTER (what = 'decide-folder') FROM scale WHERE rows = 200_000_000;
-- README.md: about 220 MB of memory
SELECT max(peak) BETWEEN 215 AND 225 FROM scale WHERE rows = 200_000_000 AND what IN ('decide-file', 'decide-folder');
-- README.md: In {:,} runs on {} pools the guarantee was broken in {:.1f}%
SELECT count(*), count(DISTINCT pool), 100 * avg((g."true" < g.target * g.accepted - 1e-9)::INT)
FROM 'benchmarks/guarantee/rows.csv' g WHERE way = 'list-test' AND target = 0.9;
-- README.md: Fourteen language models and 50 answers of people are right on {:.1f}% of the facts
SELECT 100 * avg(accuracy) FROM 'benchmarks/real/judges.csv' WHERE (judges, scores, list, answers) = (14, 'none', '50% true', 50);

-- What learnt constraints change on CoDEx and the proving ground, in points, by cell and budget.
CREATE VIEW constrained AS
WITH means AS (SELECT dataset, model, budget, constraints, avg(accuracy) AS a, avg(f1) AS f
FROM 'benchmarks/constraints/cells.csv.gz' GROUP BY ALL)
SELECT dataset, model, budget, 100 * (l.a - n.a) AS da, 100 * (l.f - n.f) AS df
FROM means AS l JOIN means AS n USING (dataset, model, budget) WHERE l.constraints = 'learnt' AND n.constraints = 'none';
-- docs/trust.md: Over all {} pairs of a cell and a budget accuracy rises by {:.2f} points on the mean and falls by {:.3f} at most; F1 rises by {:.2f} and falls by {:.2f} at most
SELECT count(*), avg(da), -min(da), avg(df), -min(df) FROM constrained;
-- docs/how-to/constraints.md: {:.1f} s of processor time and {:.1f} GB in all
SELECT cpu_seconds, peak_mb / 1000 FROM 'benchmarks/constraints/scale.csv' WHERE rows = 1000000 AND constraints = 1 AND engine = 'duckdb';
-- docs/evidence.md: | {} | {} of {:,} | {} of {:,} | {} of {:,} | {} of {:,} | {} of {:,} |
WITH named(graph, name) AS (VALUES ('wn18rr', 'WN18RR'), ('fb15k-237', 'FB15k-237')),
one AS (SELECT * FROM 'benchmarks/evidence/union.csv' WHERE best = 1),
ten AS (SELECT * FROM 'benchmarks/evidence/union.csv' WHERE best = 10)
SELECT name, ltrim(format('{:.3f}', one.rules_found), '0'), one.rules, ltrim(format('{:.3f}', one.model_found), '0'),
       one.model, ltrim(format('{:.3f}', one.both_found), '0'), one.both, ltrim(format('{:.3f}', ten.model_found), '0'),
       ten.model, ltrim(format('{:.3f}', ten.both_found), '0'), ten.both
FROM one JOIN ten USING (graph) JOIN named USING (graph);

-- docs/evidence.md: On WN18RR, F1 is {} with nobody asked, {} with 100 answers
SELECT dot(max(f1) FILTER (answers = 0)), dot(max(f1) FILTER (answers = 100)) FROM 'benchmarks/evidence/complete.csv' WHERE graph = 'wn18rr';
-- docs/evidence.md: | {} | {:.1f} | {} | {:.1f} | {:.1f} | {:.1f} |
WITH means AS (SELECT way, answers, 100 * avg(accuracy) AS a, 100 * avg("all") AS everything FROM 'benchmarks/evidence/given.csv'
WHERE way IN ('complete', 'actc-lr-rndm') GROUP BY ALL)
SELECT if(way = 'complete', '`actc complete --candidates`', '`actc-lr-rndm` on the confidence'), max(everything),
coalesce(format('{:.1f}', max(a) FILTER (answers = 0)), '–'), max(a) FILTER (answers = 20), max(a) FILTER (answers = 50), max(a) FILTER (answers = 100)
FROM means GROUP BY way;
-- docs/evidence.md: | {} | {} | {} | {} ({} to {}) | {} | {} |
SELECT graph, if(avg("precision") > .9995, '1.000', dot(avg("precision"))), dot(avg(recall)), dot(avg(f1)), dot(min(f1)), dot(max(f1)), dot(avg(best_f1)), dot(avg(ap))
FROM 'benchmarks/evidence/seeds.csv' GROUP BY graph;
-- docs/evidence.md: evidence has an average precision of {}, the surest rule {}, a noisy or {}
SELECT dot(max(ap) FILTER (ranked_by = 'evidence' AND answers = 0)), dot(max(ap) FILTER (ranked_by = 'max-plus')),
dot(max(ap) FILTER (ranked_by = 'noisy-or')) FROM 'benchmarks/evidence/rules.csv' WHERE graph = 'umls' AND redraw = 0;
-- docs/trust.md: On five graphs that no choice looked at, F1 rises by {:.0f} to .{:03.0f}
SELECT 1000 * min(l.f1 - n.f1), 1000 * max(l.f1 - n.f1) FROM 'benchmarks/constraints/unseen.csv' n JOIN 'benchmarks/constraints/unseen.csv' l
USING (graph) WHERE n.constraints = 'none' AND l.constraints = 'learnt';

-- A graph out of Oxigraph's server, and back.
CREATE VIEW stores AS SELECT * FROM 'benchmarks/stores/oxigraph.csv';
-- docs/how-to/your-store.md: Oxigraph gave 10 million triples in {:.0f} seconds
SELECT seconds FROM stores WHERE rows = 10_000_000 AND what = 'fetch' AND same;

-- Language models as judges of real facts, without a score.
CREATE VIEW language_models AS SELECT list, answers, 100 * avg(accuracy) AS accuracy, avg(auc) AS auc, 100 * avg("constant") AS same
FROM 'benchmarks/real/judges.csv' WHERE judges = 14 AND scores = 'none' GROUP BY ALL;
-- docs/trust.md: | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |
SELECT list, max(same) FILTER (answers = 50), max(accuracy) FILTER (answers = 20), max(accuracy) FILTER (answers = 50),
max(accuracy) FILTER (answers = 100) FROM language_models GROUP BY list;
-- docs/trust.md: (area under the curve {:.2f})
SELECT auc FROM language_models WHERE list = '85% true' AND answers = 100;

-- benchmarks/scale/README.md: Of a million candidates the first page takes less than 200 ms of processor time
SELECT bool_and(processor < 200 AND candidates = 1000000) FROM 'benchmarks/studio/table.csv' WHERE what LIKE 'first page%';
-- benchmarks/scale/README.md: searched less than 500 ms (medians)
SELECT bool_and(processor < 500) FROM 'benchmarks/studio/table.csv'
WHERE what NOT LIKE '%MB';
-- benchmarks/scale/README.md: with less than 256 MB of memory in the server
SELECT median < 256 FROM 'benchmarks/studio/table.csv' WHERE what = 'more memory in the server, MB';

-- The paper, item by item. Entries of the paper's own cells and means; differences are ours less the printed number.
CREATE VIEW printed AS SELECT * FROM 'benchmarks/paper/numbers.csv' WHERE paper IS NOT NULL;
CREATE MACRO furthest(name) AS (SELECT max(abs(difference)) FROM printed WHERE "table" = name AND dataset = 'all');
-- docs/paper.md: [table-avg](../benchmarks/paper/table-avg.md) | means of the cells differ by {:.1f} points at most
SELECT furthest('avg');
-- docs/paper.md: [table-avg-f1](../benchmarks/paper/table-avg-f1.md) | means differ by {:.1f} points at most
SELECT furthest('avg-f1');
-- docs/paper.md: [table-l1](../benchmarks/paper/table-l1.md) | means differ by {:.1f} points at most
SELECT furthest('l1');
-- docs/paper.md: [table-l10](../benchmarks/paper/table-l10.md) | means differ by {:.1f} points at most
SELECT furthest('l10');
-- docs/paper.md: [table-l50](../benchmarks/paper/table-l50.md) | means differ by {:.1f} points at most
SELECT furthest('l50');
-- docs/paper.md: the averages of Table 2 differ from the printed ones by at most {:.1f}
SELECT max(abs(difference)) FROM printed WHERE "table" = 'avg' AND model = 'complex-authors';
-- docs/paper.md: the averages are {:.1f} to {:.1f} points higher
SELECT min(difference), max(difference) FROM printed WHERE "table" = 'avg-f1' AND dataset = 'codex-m' AND model IN ('conve', 'rescal');
-- docs/paper.md: may differ by 25 points (ACTC-GP_dens with RESCAL on CoDEx-S: {:.1f}, printed {:.0f})
SELECT max_by(ours, abs(difference)), max_by(paper, abs(difference)) FROM printed WHERE "table" = 'l1' AND dataset <> 'all';
-- docs/paper.md: is printed with {:.0f}; its eight cells give {:.2f}
SELECT max(value) FILTER (dataset = 'all'), avg(value) FILTER (dataset <> 'all') FROM 'src/actc/bench/paper/published.csv'
WHERE ("table", method, metric) = ('l1', 'actc-lr-rndm', 'accuracy');
CREATE VIEW ahead AS SELECT "first − second" AS pair, ltrim(split_part("l = 10", ' ', 1), '+') AS ten, ltrim(split_part(average, ' ', 1), '+') AS average
FROM 'benchmarks/paper/comparisons-accuracy.csv';
-- docs/paper.md: ACTC-LR_rndm is {} points of accuracy above LocalOpt (Acc) at ten annotations and {} on average; above GlobalOpt it is {} and {} (
SELECT a.ten, a.average, b.ten, b.average FROM ahead AS a, ahead AS b
WHERE a.pair = 'ACTC-LR rndm − LocalOpt (Acc)' AND b.pair = 'ACTC-LR rndm − GlobalOpt (F1)';
-- docs/paper.md: In our rows no budget changes by more than {:.1f} points
WITH cells AS (UNPIVOT (SELECT * EXCLUDE average FROM 'benchmarks/paper/ablation-estimate-all.csv') ON COLUMNS(* EXCLUDE variant) INTO NAME budget VALUE pair),
split AS (SELECT split_part(variant, ',', 1) AS kind, variant LIKE '% all' AS everything, budget,
split_part(pair, '/', 1)::DOUBLE AS accuracy, split_part(pair, '/', 2)::DOUBLE AS f1 FROM cells)
SELECT max(greatest(abs(a.accuracy - b.accuracy), abs(a.f1 - b.f1))) FROM split a JOIN split b USING (kind, budget)
WHERE a.everything AND NOT b.everything;

-- benchmarks/scale/README.md: it grows {:.1f}-fold (file) and {:.1f}-fold (folder)
SELECT max(seconds) FILTER (what = 'decide-file' AND rows = 200_000_000) / max(seconds) FILTER (what = 'decide-file' AND rows = 20_000_000),
max(seconds) FILTER (what = 'decide-folder' AND rows = 200_000_000) / max(seconds) FILTER (what = 'decide-folder' AND rows = 20_000_000) FROM scale;
-- benchmarks/scale/README.md: Spark took {:.0f} s and DuckDB {:.1f} s
SELECT max(seconds) FILTER (engine = 'spark'), max(seconds) FILTER (engine = 'duckdb') FROM 'benchmarks/scale/engines.csv';
-- benchmarks/scale/README.md: starts in {:.1f} s. Then a refit takes {:.2f} s at first and 0.01 s later, the next pick {:.2f} s, a round of the planner with everything that the page shows {:.2f} s; peak {:.2f} GB
SELECT start_seconds, refit_seconds, pick_seconds, plan_seconds, peak_mb / 1000 FROM 'benchmarks/scale/pool.csv';

-- docs/how-to/from-pykeen.md: | {} | {:.0f}%, {:.0f}%, {} | {:.0f}%, {:.0f}%, {} | {:.1f} |
SELECT dataset, 100 * avg("precision") FILTER (way = 'model'), 100 * avg(recall) FILTER (way = 'model'), dot(avg(ap_unjudged) FILTER (way = 'model')),
100 * avg("precision") FILTER (way = 'evidence'), 100 * avg(recall) FILTER (way = 'evidence'), dot(avg(ap_unjudged) FILTER (way = 'evidence')),
avg(seconds) FILTER (way = 'evidence') FROM 'benchmarks/pykeen/rows.csv' WHERE answers = 50 GROUP BY dataset;
