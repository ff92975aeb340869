"""Kùzu: a property graph in a file. A node is called ``Table/key``, or by its key if that is an IRI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from actc.errors import FileError, StoreError, needing
from actc.graphs.terms import WITH_SLASHES
from actc.stores.property_graph import MARK, PREFIX, Node, Relationship, properties_of

INTEGERS = ("INT", "SERIAL", "UINT")


class KuzuGraph:
    """A database of Kùzu's.

    Parameters
    ----------
    path : str
        The file or folder it is in; it is not made.
    write : bool
        Whether anything will be written.
    """

    space = "urn:kuzu:"

    def __init__(self, path: str, write: bool = False) -> None:
        with needing("Opening a Kùzu store", "kuzu", "kuzu"):
            import kuzu
        if not Path(path).exists():
            raise FileError(f"kuzu:{path}: there is no such file or folder.")
        try:
            self._database: Any = kuzu.Database(path, read_only=not write)
            self._connection: Any = kuzu.Connection(self._database)
        except RuntimeError as error:
            raise StoreError(f"kuzu:{path} cannot be opened: {str(error).splitlines()[0]}") from None
        self.path = path
        tables = list(self._rows("CALL show_tables() RETURN name, type"))
        self.keys = {name: self._key(name) for name, kind in tables if kind == "NODE"}
        self.kinds = [name for name, kind in tables if kind == "REL"]

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
        self._database.close()

    def _rows(self, query: str, **values: Any) -> Iterator[list[Any]]:
        try:
            # Kùzu crashes on a result that is closed after its database.
            with closing(self._connection.execute(query, values)) as found:
                while found.has_next():
                    yield found.get_next()
        except RuntimeError as error:
            raise StoreError(f"kuzu:{self.path}: {str(error).splitlines()[0]}") from None

    def _one(self, query: str, **values: Any) -> Any:
        [row] = self._rows(query, **values)
        return row[0]

    def _columns(self, table: str) -> list[list[Any]]:
        return list(self._rows(f"CALL table_info({_text(table)}) RETURN *"))

    def _key(self, table: str) -> tuple[str, bool]:
        """Return the name of a table's key, and whether it is a whole number."""
        _, name, kind, *_ = next(column for column in self._columns(table) if column[4])
        return name, kind.startswith(INTEGERS)

    def count(self) -> tuple[int, int, int]:
        """Return how many nodes and relationships there are, and how many of these have properties."""
        nodes = sum(self._one(f"MATCH (n:{_id(table)}) RETURN count(*)") for table in self.keys)
        by_kind = {kind: self._one(f"MATCH ()-[r:{_id(kind)}]->() RETURN count(*)") for kind in self.kinds}
        beside = sum(
            count
            for kind, count in by_kind.items()
            if any(not str(column[1]).startswith(PREFIX) for column in self._columns(kind))
        )
        return nodes, sum(by_kind.values()), beside

    def nodes(self) -> Iterator[Node]:
        """Return the nodes."""
        for table, (key, _) in self.keys.items():
            names = [column[1] for column in self._columns(table)]
            wanted = ", ".join(f"n.{_id(name)}" for name in names)
            for row in self._rows(f"MATCH (n:{_id(table)}) RETURN {wanted}"):
                values = dict(zip(names, row, strict=True))
                name = _name(table, values[key])
                values = {key: value for key, value in values.items() if value != name}  # an IRI is no property
                yield Node(name, (table,), values)

    def relationships(self) -> Iterator[Relationship]:
        """Return the relationships."""
        for kind in self.kinds:
            for source, target in self._ends(kind):
                keys = f"a.{_id(self.keys[source][0])}, b.{_id(self.keys[target][0])}"
                query = f"MATCH (a:{_id(source)})-[:{_id(kind)}]->(b:{_id(target)}) RETURN {keys}"
                for head, tail in self._rows(query):
                    yield Relationship(_name(source, head), kind, _name(target, tail))

    def _ends(self, kind: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._rows(f"CALL show_connection({_text(kind)}) RETURN *")]

    def add(self, kind: str, rows: list[dict[str, Any]]) -> int:
        """Write relationships of one type where they are not yet; return how many are there."""
        if kind not in self.kinds:
            raise StoreError(f"kuzu:{self.path}: there is no relationship table {kind}; make it first.")
        there, ends = 0, self._ends(kind)
        for name, value in properties_of(rows).items():
            if name not in [column[1] for column in self._columns(kind)]:
                list(self._rows(f"ALTER TABLE {_id(kind)} ADD {_id(name)} {_type(name, value)}"))
        for row in rows:
            heads, tails = self._places(row["head"]), self._places(row["tail"])
            pairs = [(a, b) for a in heads for b in tails if (a[0], b[0]) in ends]
            there += sum(self._merge(kind, a, b, row["properties"]) for a, b in pairs[:1])
        return there

    def _places(self, name: str) -> list[tuple[str, Any]]:
        """Return the tables that a node may be in, each with its key there."""
        table, slash, key = name.partition("/")
        if WITH_SLASHES.fullmatch(name):
            places = [(table, name) for table, (_, whole) in self.keys.items() if not whole]
        else:
            places = [(table, key)] if slash and table in self.keys else []
        typed = [(table, int(key) if self.keys[table][1] else key) for table, key in places]
        return [(table, key) for table, key in typed if self._has(table, key)]

    def _has(self, table: str, key: Any) -> bool:
        query = f"MATCH (n:{_id(table)}) WHERE n.{_id(self.keys[table][0])} = $key RETURN count(*)"
        return bool(self._one(query, key=key))

    def _merge(self, kind: str, head: tuple[str, Any], tail: tuple[str, Any], values: dict[str, Any]) -> int:
        told = {name: value for name, value in values.items() if value is not None}
        ends = [
            f"({end}:{_id(table)} {{{_id(self.keys[table][0])}: ${end}}})"
            for end, (table, _) in (("a", head), ("b", tail))
        ]
        beside = [f"r.{_id(name)} = {_value(name)}" for name in told if name != MARK]
        query = (
            f"MATCH {', '.join(ends)} MERGE (a)-[r:{_id(kind)} {{{_id(MARK)}: ${MARK}}}]->(b) "
            + (f"ON CREATE SET {', '.join(beside)} " if beside else "")
            + "RETURN count(*)"
        )
        return int(self._one(query, a=head[1], b=tail[1], **told))

    def count_run(self, run: str) -> int:
        """Return how many relationships a run wrote."""
        query = "MATCH ()-[r:{}]->() WHERE r.{} = $run RETURN count(*)"
        return sum(self._one(query.format(_id(kind), _id(MARK)), run=run) for kind in self._marked())

    def _marked(self) -> list[str]:
        return [kind for kind in self.kinds if any(column[1] == MARK for column in self._columns(kind))]

    def drop_run(self, run: str) -> None:
        """Take out what a run wrote; and our columns, where no other run uses them."""
        for kind in self._marked():
            list(self._rows(f"MATCH ()-[r:{_id(kind)}]->() WHERE r.{_id(MARK)} = $run DELETE r", run=run))
            if not self._one(f"MATCH ()-[r:{_id(kind)}]->() WHERE r.{_id(MARK)} IS NOT NULL RETURN count(*)"):
                for column in self._columns(kind):
                    if str(column[1]).startswith(PREFIX):
                        list(self._rows(f"ALTER TABLE {_id(kind)} DROP {_id(column[1])}"))


def _name(table: str, key: Any) -> str:
    return key if isinstance(key, str) and WITH_SLASHES.fullmatch(key) else f"{table}/{key}"


def _id(name: str) -> str:
    if "`" in name:
        raise StoreError(f"Kùzu has no name such as {name!r}.")
    return f"`{name}`"


def _text(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _type(name: str, value: Any) -> str:
    return "DATE" if name == f"{PREFIX}date" else "DOUBLE" if isinstance(value, float) else "STRING"


def _value(name: str) -> str:
    return f"date(${name})" if name == f"{PREFIX}date" else f"${name}"
