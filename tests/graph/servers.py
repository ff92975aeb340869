"""Real servers, started and stopped by the tests, and one that is at fault on purpose."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pyoxigraph

GRAPH = "http://example.org/kg"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextmanager
def process(words, is_ready, **options):
    """Run a server until the block is left; it must be ready within a minute."""
    running = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        deadline = time.monotonic() + 60
        while not is_ready():
            assert running.poll() is None, f"{words[0]} ended"
            assert time.monotonic() < deadline, f"{words[0]} does not answer"
            time.sleep(0.05)
        yield running
    finally:
        running.terminate()
        running.wait(30)


def answers(url):
    try:
        return httpx.get(url, timeout=5).status_code < 500
    except httpx.HTTPError:
        return False


@contextmanager
def oxigraph(folder=None):
    """Give the address of Oxigraph's own server; its data are in a folder, or in memory."""
    port = free_port()
    place = ["--location", folder] if folder else []
    program = Path(sys.executable).with_name("oxigraph")
    url = f"http://127.0.0.1:{port}"
    with process([program, "serve", *place, "--bind", f"127.0.0.1:{port}"], lambda: answers(url)):
        yield url


def load(url, lines, graph=GRAPH):
    """Put lines of N-Triples into a named graph of Oxigraph's server, or into the default graph."""
    where = f"graph={graph}" if graph else "default"
    httpx.post(
        f"{url}/store?{where}",
        content="\n".join(lines).encode() + b"\n",
        headers={"Content-Type": "application/n-triples"},
        timeout=120,
    ).raise_for_status()


def dump(url):
    """Return all that a server of Oxigraph holds, as sorted lines of N-Quads."""
    found = httpx.get(f"{url}/store", headers={"Accept": "application/n-quads"}, timeout=120).raise_for_status()
    return sorted(found.text.splitlines())


class Faulty:
    """A SPARQL server with one graph in memory, and a fault.

    Parameters
    ----------
    lines : list of str
        What it holds, as N-Triples.
    fault : callable
        (server, query, reply) to what is sent: bytes, a status, or None to close the connection. The query is ``GET``
        and an address where the graph is asked for by the Graph Store Protocol.
    graph_store : bool
        Whether it has that protocol.
    """

    def __init__(self, lines, fault, graph_store=False):
        self.graph_store = graph_store
        self.data = pyoxigraph.Store()
        self.data.bulk_load("\n".join(lines).encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
        self.fault, self.asked, self.headers, self.triples = fault, [], [], "application/n-triples"

    def reply(self, query):
        found = self.data.query(query)
        if isinstance(found, pyoxigraph.QueryTriples):
            return found.serialize(format=pyoxigraph.RdfFormat.N_TRIPLES)
        return found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)

    def answer(self, handler):
        form = parse_qs(handler.rfile.read(int(handler.headers["Content-Length"])).decode())
        query = form.get("query", form.get("update", [""]))[0]
        self.send(handler, query, self.reply(query))

    def answer_graph(self, handler):
        if not self.graph_store or handler.path != "/store?default":
            handler.send_error(404)
            return
        graph = self.data.dump(from_graph=pyoxigraph.DefaultGraph(), format=pyoxigraph.RdfFormat.N_TRIPLES)
        self.send(handler, f"GET {handler.path}", graph)

    def send(self, handler, query, reply):
        self.asked.append(query)
        self.headers.append(dict(handler.headers))
        sent = self.fault(self, query, reply)
        if sent is None:
            handler.close_connection = True
            return
        status, content, more = sent if isinstance(sent, tuple) else (200, sent, {})
        handler.send_response(status)
        handler.send_header("Content-Type", self.triples if is_triples(query) else "application/sparql-results+json")
        handler.send_header("Content-Length", str(len(content)))
        for name, value in more.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    @contextmanager
    def serving(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                server.answer(self)

            def do_GET(self):
                server.answer_graph(self)

            def log_message(self, *words):
                pass

        running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=running.serve_forever, args=[0.01], daemon=True).start()
        try:
            yield f"sparql:http://127.0.0.1:{running.server_port}/query"
        finally:
            running.shutdown()
            running.server_close()


def no_fault(server, query, reply):
    return reply


def is_triples(query):
    return query.startswith(("CONSTRUCT", "GET"))


def cut(rows):
    """Return a fault: never more than so many rows, and all is well by the status."""

    def fault(server, query, reply):
        if is_triples(query):
            return b"".join(reply.splitlines(keepends=True)[:rows])
        table = json.loads(reply)
        if "results" in table:
            table["results"]["bindings"] = table["results"]["bindings"][:rows]
        return json.dumps(table).encode()

    return fault


@contextmanager
def dripping(first):
    """Give the address of a server that sends the beginning of a reply, then a byte now and then, and never ends."""

    def drip(connection):
        with suppress(OSError), connection:
            connection.recv(65536)
            connection.sendall(first)
            while True:
                connection.sendall(b"x")
                time.sleep(0.05)

    def serve(listener):
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=[listener.accept()[0]], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        yield f"sparql:http://127.0.0.1:{listener.getsockname()[1]}/query"
        listener.shutdown(socket.SHUT_RDWR)
