"""Tables as people have them: each is read as its owner means it, or refused with what to do."""

from __future__ import annotations

import codecs

import duckdb
import pytest

from actc.complete.given import read_given
from actc.data.files import read_scored
from actc.data.layout import find_layout, is_table
from actc.data.triples import encode_columns
from actc.decide.calibrate import calibrate
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.session.names import read_names
from actc.session.start import SessionInputs, create_session
from actc.web.studio.recognise import _describe

PARIS, BERLIN = ("Paris", "capital_of", "France"), ("Berlin", "capital_of", "Germany")
BOTH = {PARIS, BERLIN}
RELATED = {("Paris", "related_to", "France"), ("Berlin", "related_to", "Germany")}
LONG = "x" * 2000

# Name of the file, its content, its triples.
GRAPHS = {
    "plain": ("g.tsv", "Paris\tcapital_of\tFrance\nBerlin\tcapital_of\tGermany\n", BOTH),
    "a relation called type, without a header": ("g.tsv", "Paris\ttype\tCity\n", {("Paris", "type", "City")}),
    "head relation tail": ("g.csv", "head,relation,tail\nParis,capital_of,France\nBerlin,capital_of,Germany\n", BOTH),
    "subject predicate object": (
        "g.csv",
        "Subject,Predicate,Object\nParis,capital_of,France\nBerlin,capital_of,Germany\n",
        BOTH,
    ),
    "PyKEEN's predictions": (
        "g.tsv",
        "head_id\thead_label\trelation_id\trelation_label\ttail_id\ttail_label\tscore\n"
        "0\tParis\t0\tcapital_of\t2\tFrance\t3.5\n1\tBerlin\t0\tcapital_of\t3\tGermany\t-1\n",
        BOTH,
    ),
    "PyKEEN's ids": ("g.tsv", "head_id\trelation_id\ttail_id\tscore\n0\t0\t2\t3.5\n", {("0", "0", "2")}),
    "LibKGE's train.txt": ("train.txt", "Paris\tcapital_of\tFrance\nBerlin\tcapital_of\tGermany\n", BOTH),
    "GraphRAG's relationships": (
        "relationships.csv",
        "id,human_readable_id,source,target,description,weight,combined_degree\n"
        'a1,0,Paris,France,"Paris, on the Seine, is France\'s capital",9.0,3\nb2,1,Berlin,Germany,capital,7.5,2\n',
        RELATED,
    ),
    "source, type and target": (
        "g.csv",
        "source,type,target\nParis,capital_of,France\nBerlin,capital_of,Germany\n",
        BOTH,
    ),
    "LlamaIndex's relations": (
        "g.jsonl",
        '{"label": "capital_of", "source_id": "Paris", "target_id": "France", "properties": {"page": 3}}\n'
        '{"label": "capital_of", "source_id": "Berlin", "target_id": "Germany", "properties": {}}\n',
        BOTH,
    ),
    "neo4j-admin's relationships": (
        "g.csv",
        ":START_ID(City),:END_ID(Country),:TYPE\nParis,France,capital_of\nBerlin,Germany,capital_of\n",
        BOTH,
    ),
    "APOC's export": ("g.csv", "_start,_end,_type\nParis,France,capital_of\nBerlin,Germany,capital_of\n", BOTH),
    "Wikidata's results": ("g.csv", "item,property,value\nParis,capital_of,France\nBerlin,capital_of,Germany\n", BOTH),
    "a spreadsheet with semicolons": (
        "g.csv",
        "Head Label;Relation Label;Tail Label;Note\r\nParis;capital_of;France;a, b\r\nBerlin;capital_of;Germany;\r\n",
        BOTH,
    ),
    "quotes and a long cell": (
        "g.csv",
        f'head,relation,tail,note\n"Paris","capital_of","France","{LONG}"\nBerlin,capital_of,Germany,"a ""b"""\n',
        BOTH,
    ),
    "a name of 2,000 characters": ("g.csv", f"head,relation,tail\n{LONG},r,b\n", {(LONG, "r", "b")}),
    "a mark at the beginning": (
        "g.csv",
        codecs.BOM_UTF8 + b"head,relation,tail\nParis,capital_of,France\nBerlin,capital_of,Germany\n",
        BOTH,
    ),
    "UTF-16": (
        "g.txt",
        "head\trelation\ttail\nParis\tcapital_of\tFrance\nZürich\tin\tSchweiz\n".encode("utf-16"),
        {PARIS, ("Zürich", "in", "Schweiz")},
    ),
    "JSON lines": (
        "g.ndjson",
        '{"subject": "Paris", "predicate": "capital_of", "object": "France", "n": 1}\n\n'
        '{"subject": "Berlin", "object": "Germany", "predicate": "capital_of", "n": null}\n',
        BOTH,
    ),
    "JSON lines, some without a column": (
        "g.jsonl",
        '{"head": "Paris", "relation": "capital_of", "tail": "France"}\n'
        '{"head": "Berlin", "relation": "capital_of", "tail": "Germany", "confidence": 0.5}\n',
        BOTH,
    ),
}
REFUSED = {
    "LibKGE's ids": ("train.del", "0\t0\t1\n", "save it under one of: .*.tsv"),
    "UTF-16 of the other byte order": ("g.csv", codecs.BOM_UTF16_BE + "a,r,b\n".encode("utf-16-be"), "convert"),
    "UTF-16 without a mark": ("g.csv", "head,relation,tail\na,r,b\n".encode("utf-16-le"), "convert"),
    "Latin-1": ("g.csv", "head,relation,tail\nZürich,in,Schweiz\n".encode("latin-1"), "convert"),
    "an old spreadsheet": ("g.xls", b"\xd0\xcf\x11\xe0", "save it under one of: .*.csv"),
    "two columns": ("g.csv", "head,tail\na,b\n", "'relation' is missing.* Add it"),
    "names of its own": ("g.csv", "who,does,whom,n\na,r,b,1\n", "--columns head=who,relation=does,tail=whom"),
    "half a line of JSON": ("g.jsonl", '{"head": "a", "relation":\n', "line 1.* write one on each line"),
    "a list of JSON": ("g.jsonl", '["a", "r", "b"]\n', "line 1.* write one on each line"),
    "words between commas": ("g.tsv", "foo,bar,baz\n", "line 1: 1 column is there.* commas in a file named .csv"),
    "a line of 3 MB": ("g.csv", f"head,relation,tail\na,r,b\na,r,{'x' * 3_000_000}\n", "line 3: a cell is too long"),
    "a cell of 3 MB": ("g.tsv", f"a\tr\tb\nc\tr\t{'parquet' * 500_000}\n", "line 2: a cell is too long"),
    "an empty end": ("g.jsonl", '{"head": "a", "relation": "r", "tail": null}\n', "column tail; fill the cell"),
}
# The command line, and the studio.
READERS = [read_graph, lambda path: _describe("graph", path, find_layout(path) if is_table(path) else None)[1]]


def put(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("case", GRAPHS)
def test_a_table_is_the_graph_that_its_owner_means(case, read, tmp_path):
    name, content, triples = GRAPHS[case]
    graph = read(put(tmp_path, name, content))
    assert {graph.triple(row) for row in range(len(graph))} == triples


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("case", REFUSED)
def test_a_table_that_is_not_clear_is_refused_with_what_to_do(case, read, tmp_path):
    name, content, remedy = REFUSED[case]
    with pytest.raises(ActcError, match=f"{name}.*{remedy}"):
        read(put(tmp_path, name, content))


EXTRACTED = {
    "g.csv": "Subject,Relation,Object,Evidence,Probability\na,r,b,one,.9\nc,r,d,two,.25\na,r,b,three,.95\n",
    "g.jsonl": '{"head": "a", "relation": "r", "tail": "b", "confidence": 0.9, "sentence": "one"}\n'
    '{"head": "c", "relation": "r", "tail": "d", "confidence": 0.25, "sentence": "two"}\n'
    '{"head": "a", "relation": "r", "tail": "b", "confidence": 0.95, "sentence": "three"}\n',
    "g.tsv": "source\ttarget\ttype\ttext\tconfidence\na\tb\tr\tone\t.9\nc\td\tr\ttwo\t.25\na\tb\tr\tthree\t.95\n",
}


@pytest.mark.parametrize("name", EXTRACTED)
def test_a_triple_of_several_texts_is_one_candidate_with_all_its_texts(name, tmp_path):
    table = put(tmp_path, name, EXTRACTED[name])
    pool, labels = read_scored(table, further=True)
    assert (labels, pool.probabilities) == (None, True)
    assert {pool.triple(row): pool.scores[row] for row in range(len(pool))} == {
        ("a", "r", "b"): 0.95,
        ("c", "r", "d"): 0.25,
    }
    further = zip(pool.further["text"], pool.further["support"], strict=True)
    assert {pool.triple(row): texts for row, texts in enumerate(further)} == {
        ("a", "r", "b"): ("one\nthree", 2),
        ("c", "r", "d"): ("two", 1),
    }


def test_graphrag_s_parquet_has_weights_as_scores_and_descriptions_as_texts(tmp_path):
    table = tmp_path / "relationships.parquet"
    rows = (
        "SELECT 'Paris' AS source, 'France' AS target, 'its capital' AS description, 9.0 AS weight, ['t1'] AS unit_ids"
    )
    duckdb.sql(f"COPY ({rows}) TO '{table}' (FORMAT parquet)")
    pool = read_scored(table, further=True)[0]
    assert (pool.triple(0), pool.scores[0], pool.probabilities) == (("Paris", "related_to", "France"), 9.0, False)
    assert pool.further["text"].tolist() == ["its capital"]
    (tmp_path / "entities.csv").write_text("id,title,type,description\nx1,Paris,CITY,On the Seine.\n")
    assert next(read_names(tmp_path / "entities.csv", wanted={"Paris"}))[:2] == ("Paris", "Paris")


def test_what_is_not_used_of_a_table_of_candidates_is_said_its_labels_too(tmp_path, caplog):
    scores = put(tmp_path, "scores.csv", "head,relation,tail,points,label,colour\na,r,b,.5,1,red\nc,r,d,.7,0,blue\n")
    columns = {"columns": "score=points"}
    calibrate(scores, out=tmp_path / "t.json", **columns)
    decide_candidates(tmp_path / "t.json", scores, tmp_path / "o.tsv", **columns)
    create_session(tmp_path / "s", scores, inputs=SessionInputs(**columns)).close()
    read_given(scores, "", Graph.of(encode_columns([], [], [])), **columns)
    assert caplog.messages == [
        f"{scores}: score is points; not used: {unused}." for unused in ("colour, label", "label", "label", "label")
    ]


def test_a_file_of_three_words_is_a_fact_and_that_is_said(tmp_path):
    graph = read_graph(put(tmp_path, "g.csv", "foo,bar,baz\n"))
    assert graph.triple(0) == ("foo", "bar", "baz")
    assert graph.notes == ("Line 1 is taken as a fact (foo, bar, baz); if it names columns, use --columns.",)


def test_columns_of_one_name_or_of_none_have_their_places(tmp_path):
    pool = read_scored(
        put(tmp_path, "g.csv", "head,relation,tail,score,,Note,note,\na,r,b,.5,1,x,y,2\n"), further=True
    )[0]
    assert {name: column.tolist() for name, column in pool.further.items()} == {
        "_5": ["1"], "Note": ["x"], "note_7": ["y"], "_8": ["2"],
    }  # fmt: skip
