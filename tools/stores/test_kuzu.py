"""A property graph in Kùzu's file comes out as triples and takes facts back; `make test-tools` runs it."""

from __future__ import annotations

import random

import kuzu
import numpy as np
import pytest
from click.testing import CliRunner
from tests.stores.test_read_sparql import lines_of

from actc.cli.main import commands
from actc.errors import FileError, OptionError, StoreError
from actc.graphs.formats import read_graph
from actc.stores.fetch import fetch_graph
from actc.stores.publish import publish_facts, withdraw_facts
from actc.tables.files import write_triples

PLACE, SPACE, XSD = "http://example.org/", "urn:kuzu:", "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def run(path, *queries):
    database = kuzu.Database(str(path))
    connection = kuzu.Connection(database)
    found = []
    for query in queries:
        rows = connection.execute(query)
        found = []
        while rows.has_next():
            found.append(rows.get_next())
        rows.close()
    connection.close()
    database.close()
    return found


def rows_of(path):
    return sorted(map(str, run(path, "MATCH (a)-[r]->(b) RETURN a, r, b")))


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "graph.kuzu"
    run(
        path,
        "CREATE NODE TABLE Person"
        "(id STRING PRIMARY KEY, name STRING, age INT64, born DATE, tall DOUBLE, tags STRING[])",
        "CREATE NODE TABLE City(nr INT64 PRIMARY KEY)",
        "CREATE REL TABLE knows(FROM Person TO Person, since INT64)",
        "CREATE REL TABLE lives(FROM Person TO City, FROM Person TO Person)",
        "CREATE (:Person {id: 'ada', name: 'Ada \"the\" first', age: 36, born: date('1815-12-10'), tall: 1.5, "
        "tags: ['x']})-[:knows {since: 1833}]->(:Person {id: 'b c'})",
        "MATCH (a:Person {id: 'ada'}) CREATE (a)-[:lives]->(:City {nr: 7})",
    )
    return path


def test_a_property_graph_comes_out_as_triples(small, tmp_path):
    notes = fetch_graph(f"kuzu:{small}", tmp_path / "g.nt")
    ada, other, city = f"<{SPACE}Person/ada>", f"<{SPACE}Person/b%20c>", f"<{SPACE}City/7>"
    assert lines_of(tmp_path / "g.nt") == sorted(
        [
            f"{ada} {TYPE} <{SPACE}Person> .",
            f"{other} {TYPE} <{SPACE}Person> .",
            f"{city} {TYPE} <{SPACE}City> .",
            f'{ada} <{SPACE}id> "ada" .',
            f'{other} <{SPACE}id> "b c" .',
            f'{city} <{SPACE}nr> "7"^^<{XSD}integer> .',
            f'{ada} {LABEL} "Ada \\"the\\" first" .',
            f'{ada} <{SPACE}age> "36"^^<{XSD}integer> .',
            f'{ada} <{SPACE}born> "1815-12-10"^^<{XSD}date> .',
            f'{ada} <{SPACE}tall> "1.5"^^<{XSD}double> .',
            f"{ada} <{SPACE}knows> {other} .",
            f"{ada} <{SPACE}lives> {city} .",
        ]
    )
    assert notes == (
        "1 properties that are lists, maps or the like are left out.",
        "The properties of 1 relationships are left out.",
    )


def publishable(tmp_path, *triples):
    folder = tmp_path / "better"
    folder.mkdir()
    columns = zip(("head", "relation", "tail"), zip(*triples, strict=True), strict=True)
    beside = {
        "probability": np.full(len(triples), 0.9),
        "date": np.array(["2026-11-16"] * len(triples), dtype=object),
        "by": np.array(["method"] * len(triples), dtype=object),
    }
    write_triples(folder / "accepted.tsv", {name: np.array(column, dtype=object) for name, column in columns} | beside)
    return folder


def test_facts_go_in_once_and_come_out_without_a_trace(small, tmp_path):
    folder = publishable(
        tmp_path,
        ("Person/b c", "knows", "Person/ada"),
        ("Person/b c", "lives", "City/7"),
        ("Person/b c", "age", '"7"'),
    )
    before, columns = rows_of(small), run(small, "CALL table_info('knows') RETURN *")
    store = f"kuzu:{small}"
    said = publish_facts(folder, store, "urn:run", base="urn:kuzu:").lines
    assert "1 facts are no relationships between nodes of this store: left out." in said
    assert rows_of(small) == before
    for _ in range(2):
        name = publish_facts(folder, store, "urn:run", base="urn:kuzu:", write=True).run
    query = "MATCH (a:Person)-[r:knows]->(b) WHERE r.actc_run IS NOT NULL RETURN a.id, b.id, r.actc_probability, "
    [[head, tail, probability, date, mark]] = run(small, query + "r.actc_date, r.actc_run")
    assert (head, tail, probability, str(date), mark) == ("b c", "ada", 0.9, "2026-11-16", name)
    assert len(rows_of(small)) == len(before) + 2
    withdraw_facts(folder, store, "urn:run")
    assert rows_of(small) == before
    assert run(small, "CALL table_info('knows') RETURN *") == columns


def test_an_end_that_is_not_there_is_one_sentence(small, tmp_path):
    folder = publishable(tmp_path, ("urn:kuzu:Person/nobody", "urn:kuzu:knows", "urn:kuzu:Person/ada"))
    with pytest.raises(StoreError, match="1 of 1 facts have an end that is not there"):
        publish_facts(folder, f"kuzu:{small}", "urn:run", write=True)


def test_what_kuzu_cannot_do_is_one_sentence(small, tmp_path):
    folder = publishable(tmp_path, ("urn:kuzu:Person/ada", "urn:kuzu:knows", "urn:kuzu:Person/ada"))
    (folder / "accepted.tsv").rename(folder / "removed.tsv")
    with pytest.raises(OptionError, match="--remove"):
        publish_facts(folder, f"kuzu:{small}", "urn:run", remove=True, write=True)
    with pytest.raises(FileError, match="no such file"):
        fetch_graph("kuzu:nowhere", tmp_path / "g.nt")
    (tmp_path / "no.kuzu").write_bytes(b"nonsense" * 1000)
    with pytest.raises(StoreError, match="cannot be opened"):
        fetch_graph(f"kuzu:{tmp_path / 'no.kuzu'}", tmp_path / "g.nt")


def test_a_hundred_thousand_triples_come_out_of_kuzu_as_they_went_in(tmp_path):
    draw, count, path = random.Random(0), 12_000, tmp_path / "graph.kuzu"
    names = [f"{PLACE}e{k}" for k in range(count)]
    nodes = "".join(f"{name},{draw.choice(['Grüße', '日本'])} {k},{k}\n" for k, name in enumerate(names))
    (tmp_path / "nodes.csv").write_text(nodes, encoding="utf-8")
    wanted = [f"<{name}> {TYPE} <{SPACE}Thing> ." for name in names]
    for line in nodes.splitlines():
        name, words, number = line.split(",")
        wanted += [f'<{name}> {LABEL} "{words}" .', f'<{name}> <{SPACE}nr> "{number}"^^<{XSD}integer> .']
    queries = [
        "CREATE NODE TABLE Thing(id STRING PRIMARY KEY, name STRING, nr INT64)",
        f"COPY Thing FROM '{tmp_path / 'nodes.csv'}' (HEADER=false)",
    ]
    for relation in range(25):
        pairs = sorted({(draw.randrange(count), draw.randrange(count)) for _ in range(2600)})
        text = "".join(f"{names[head]},{names[tail]}\n" for head, tail in pairs)
        (tmp_path / f"r{relation}.csv").write_text(text)
        queries += [
            f"CREATE REL TABLE r{relation}(FROM Thing TO Thing)",
            f"COPY r{relation} FROM '{tmp_path / f'r{relation}.csv'}' (HEADER=false)",
        ]
        wanted += [f"<{names[head]}> <{SPACE}r{relation}> <{names[tail]}> ." for head, tail in pairs]
    run(path, *queries)
    assert len(wanted) > 100_000
    assert fetch_graph(f"kuzu:{path}", tmp_path / "g.nt") == ()
    assert lines_of(tmp_path / "g.nt") == sorted(wanted)


def test_a_command_takes_a_kuzu_store(small, tmp_path):
    words = ["convert", f"kuzu:{small}", "--base", SPACE, "--out", str(tmp_path / "g.tsv")]
    result = CliRunner().invoke(commands, words)
    assert result.exit_code == 0, result.output
    assert ("Person/ada", "knows", "Person/b c") in {read_graph(tmp_path / "g.tsv").triple(row) for row in range(12)}
