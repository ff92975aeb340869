"""What the crash test and the load test share: a pool of any size, a server in a process of its own, a plain client."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import write_triples


def write_candidates(path: Path, size: int, relations: int = 200, seed: int = 0) -> None:
    """Write scored candidates whose relations differ in size and in their share of true triples."""
    rng = np.random.default_rng(seed)
    relation = np.minimum(rng.zipf(1.3, size=size) - 1, relations - 1)
    shift = rng.normal(size=relations)
    entities = max(1000, size // 20)
    columns = {
        "head": np.char.add("e", np.arange(size).astype(str)).astype(object),
        "relation": np.char.add("r", relation.astype(str)).astype(object),
        "tail": np.char.add("e", rng.integers(entities, size=size).astype(str)).astype(object),
        "score": rng.normal(size=size) + shift[relation],
    }
    write_triples(path, columns)


class Server:
    """`actc annotate` in a process of its own, on a port that stays the same over restarts."""

    def __init__(self, folder: Path, annotators: list[str]) -> None:
        self.folder, self.annotators = folder, annotators
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.tokens: dict[str, str] = {}

    def start(self) -> None:
        """Start it, and wait until it listens."""
        names = [word for name in self.annotators for word in ("--annotator", name)]
        command = [sys.executable, "-m", "actc.cli.main", "annotate", str(self.folder), "--port", str(self.port)]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen([*command, *names], stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.match(r"(\S.*?)\s+http://[^/]+/[jo]/(\S+)", line):
                self.tokens[found[1]] = found[2]
            if "Each link" in line:
                return
        raise RuntimeError(f"the server ended with code {self.process.wait()}")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self) -> None:
        """End it as a service manager would."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Client:
    """One annotator's connection; like the page, it keeps it open and opens a new one when it breaks."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.connection: http.client.HTTPConnection | None = None

    def exchange(self, judgements: list[dict[str, Any]], cards: int) -> tuple[int, Any]:
        """Send judgements and get cards; OSError or HTTPException where the server is not there, or dies."""
        return self._send("POST", "/api/exchange", json.dumps({"judgements": judgements, "cards": cards}))

    def picture(self) -> tuple[int, Any]:
        """Get what the page shows beside the cards."""
        return self._send("GET", "/api/picture", None)

    def overview(self) -> tuple[int, Any]:
        """Get what the owner's page shows."""
        return self._send("GET", "/api/owner", None)

    def _send(self, method: str, path: str, body: str | None) -> tuple[int, Any]:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        try:
            self.connection.request(method, path, body, headers)
            with self.connection.getresponse() as answer:  # a server that dies in mid-answer leaves no open socket
                return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
