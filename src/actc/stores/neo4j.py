"""Neo4j, over Bolt. A node is called by its element id, which lasts as long as the node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actc.errors import StoreError, needing
from actc.stores.address import Store
from actc.stores.property_graph import MARK, PREFIX, Node, Relationship

FETCH = 10_000


class Neo4jGraph:
    """A database of Neo4j's, or of another that speaks Bolt and Cypher.

    Parameters
    ----------
    store : Store
    """

    space = "urn:neo4j:"

    def __init__(self, store: Store) -> None:
        with needing("Asking a Neo4j store", "neo4j", "neo4j"):
            import neo4j
            import neo4j.exceptions
        self.store = store
        login = neo4j.bearer_auth(store.key) if store.key else (store.user, store.password) if store.user else None
        self._errors = (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError)
        self._driver = neo4j.GraphDatabase.driver(store.place, auth=login, user_agent="actc")

    def close(self) -> None:
        """Close the connections."""
        self._driver.close()

    def _rows(self, query: str, **values: Any) -> Iterator[list[Any]]:
        try:
            with self._driver.session(fetch_size=FETCH) as session:
                for record in session.run(query, values):
                    yield list(record.values())
        except self._errors as error:
            raise StoreError(f"{self.store}: {self.store.hush(str(error).splitlines()[0])}") from None

    def _one(self, query: str, **values: Any) -> Any:
        return next(self._rows(query, **values))[0]

    def count(self) -> tuple[int, int, int]:
        """Return how many nodes and relationships there are, and how many of these have properties."""
        beside = f"MATCH ()-[r]->() WHERE any(k IN keys(r) WHERE NOT k STARTS WITH '{PREFIX}') RETURN count(r)"
        queries = ("MATCH (n) RETURN count(n)", "MATCH ()-[r]->() RETURN count(r)", beside)
        nodes, relationships, others = (int(self._one(query)) for query in queries)
        return nodes, relationships, others

    def nodes(self) -> Iterator[Node]:
        """Return the nodes."""
        for name, labels, properties in self._rows("MATCH (n) RETURN elementId(n), labels(n), properties(n)"):
            yield Node(name, tuple(labels), {key: _native(value) for key, value in properties.items()})

    def relationships(self) -> Iterator[Relationship]:
        """Return the relationships."""
        for row in self._rows("MATCH (a)-[r]->(b) RETURN elementId(a), type(r), elementId(b)"):
            yield Relationship(*row)

    def add(self, kind: str, rows: list[dict[str, Any]]) -> int:
        """Write relationships of one type where they are not yet; return how many are there."""
        query = (
            "UNWIND $rows AS row MATCH (a), (b) WHERE elementId(a) = row.head AND elementId(b) = row.tail "
            f"MERGE (a)-[r:{_id(kind)} {{{MARK}: row.properties.{MARK}}}]->(b) "
            f"SET r += row.properties, r.{PREFIX}date = date(row.properties.{PREFIX}date) RETURN count(r)"
        )
        return int(self._one(query, rows=rows))

    def count_run(self, run: str) -> int:
        """Return how many relationships a run wrote."""
        return int(self._one(f"MATCH ()-[r {{{MARK}: $run}}]->() RETURN count(r)", run=run))

    def drop_run(self, run: str) -> None:
        """Take out what a run wrote."""
        list(self._rows(f"MATCH ()-[r {{{MARK}: $run}}]->() DELETE r", run=run))


def _native(value: Any) -> Any:
    """Return a date or a time of Neo4j's as Python's."""
    return value.to_native() if hasattr(value, "to_native") else value


def _id(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
