"""Measure a graph out of a SPARQL store and back into it: seconds and peak memory, ours and the server's.

    python benchmarks/stores/run_store.py --rows 1e6,10e6 --folder /tmp/stores --out benchmarks/stores/oxigraph.csv

Oxigraph's server holds a graph of 25 relations, a fifth of it literals. Each step is a process of its own: `fetch`
reads the graph into sorted N-Triples, `publish` writes all of it into a named graph of another, empty store, `withdraw`
takes it out again. What was fetched is compared with what was loaded.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import httpx

FIELDS = ("rows", "what", "seconds", "cpu_seconds", "peak_mb", "server_peak_mb", "same")
PORT, INTO = 7955, "http://example.org/kg"
MAKE = """
COPY (
    SELECT '<http://example.org/e' || (hash(i) % ({rows} // 5)) || '> <http://example.org/r'
        || CAST(floor(25 * power((hash(i, 1) % 1000000) / 1e6, 2)) AS INTEGER) || '> '
        || CASE WHEN i % 5 = 0 THEN '"the name of ' || i || '"@en'
           ELSE '<http://example.org/e' || (hash(i, 2) % ({rows} // 5)) || '>' END
        || ' .' AS line
    FROM range({rows}) AS numbers(i)
) TO '{path}' (FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')
"""


@contextmanager
def serve(folder: Path):
    """Run Oxigraph's server on a folder; give its process id."""
    program = Path(sys.executable).with_name("oxigraph")
    words = [program, "serve", "--location", folder, "--bind", f"127.0.0.1:{PORT}"]
    running = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{PORT}/")
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield running.pid
    finally:
        running.terminate()
        running.wait()


def peak_of(process: int) -> int:
    """Return the most memory that a running process had, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 1024


def measure(words: list[str]) -> dict[str, float]:
    """Run actc in a process of its own; return what it took."""
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([sys.executable, "-c", CHILD, *words], stdout=subprocess.PIPE, text=True)
    told = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{words[0]} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), "peak_mb": int(told.split()[-1]) // 1024}


CHILD = """
import resource, sys
import actc
from actc.graph.read_sparql import fetch_graph
what, *words = sys.argv[1:]
if what == "fetch":
    fetch_graph(words[0], words[1])
elif what == "publish":
    actc.publish_facts(words[1], words[0], words[2], write=True)
else:
    actc.withdraw_facts(words[1], words[0], words[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def digest(path: Path, sort: bool) -> str:
    """Return a hash of a file's triples, sorted and each once if they are not so yet."""
    if not sort:
        with path.open("rb") as file:
            start = 0 if file.readline().startswith(b"<") else file.tell()  # a comment is no triple
            file.seek(start)
            return hashlib.file_digest(file, "sha256").hexdigest()
    sorted_path = path.with_suffix(".sorted")
    duckdb.execute(
        f"COPY (SELECT DISTINCT line FROM read_csv('{path}', columns={{'line': 'VARCHAR'}}, delim='\x01', "
        f"header=false, quote='', escape='', auto_detect=false) ORDER BY line) TO '{sorted_path}' "
        "(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')"
    )
    return digest(sorted_path, sort=False)


def run_one(rows: int, folder: Path) -> Iterator[dict[str, object]]:
    """Measure one size, step by step."""
    folder.mkdir(parents=True, exist_ok=True)
    made, fetched = folder / "made.nt", folder / "fetched.nt"
    duckdb.execute(MAKE.format(rows=rows, path=made))
    program = str(Path(sys.executable).with_name("oxigraph"))
    subprocess.run([program, "load", "--location", str(folder / "full"), "--file", str(made)], check=True)
    with serve(folder / "full") as server:
        took = measure(["fetch", f"sparql:http://127.0.0.1:{PORT}/query", str(fetched)])
        same = digest(made, sort=True) == digest(fetched, sort=False)
        yield {"rows": rows, "what": "fetch", **took, "server_peak_mb": peak_of(server), "same": same}
    with serve(folder / "empty") as server:
        for what in ("publish", "withdraw"):
            took = measure([what, f"sparql:http://127.0.0.1:{PORT}/update", str(fetched), INTO])
            query = {"query": "SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }"}
            answer = httpx.post(
                f"http://127.0.0.1:{PORT}/query", data=query, timeout=600, headers={"Accept": "text/csv"}
            )
            left = int(answer.text.split()[-1])
            with fetched.open("rb") as file:
                wanted = sum(1 for _ in file) + 5 if what == "publish" else 0  # one is a comment, six are about the run
            yield {"rows": rows, "what": what, **took, "server_peak_mb": peak_of(server), "same": left == wanted}


def main() -> None:
    """Measure every size asked for and write rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1e6,10e6")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for size in options.rows.split(","):
            for row in run_one(int(float(size)), options.folder / size):
                writer.writerow(row)
                file.flush()
    print(f"{options.out}: {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
