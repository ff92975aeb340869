"""Scenario 3: two people judge the candidates of a session through the page's routes, and its files are exported."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import httpx
import numpy as np

from tests.conftest import pages_of
from tests.scenarios.ways import actc, facts_of, precision, read_rows, write_rows


def make_candidates(count):
    """Return scored candidates of three relations, each with a cut of its own, and the true ones."""
    random = np.random.default_rng(5)
    scores, rows, true = random.random(count), [], set()
    for place, score in enumerate(scores):
        triple = (f"h{place}", f"r{place % 3}", f"t{place % 11}")
        rows.append((*triple, f"{score:.6f}"))
        if score + 0.05 * random.normal() > 0.3 + 0.2 * (place % 3):
            true.add(triple)
    return rows, true


def open_page(link):
    """Return a client that opened somebody's link, as their browser does."""
    client = httpx.Client(timeout=60)
    client.base_url = link.rpartition("/j/")[0] + pages_of(client.get(link))
    return client


def judge_cards(client, who, true):
    """Answer the cards that the page shows now; return how many there were, and the progress."""
    cards = client.post("/api/exchange", json={"judgements": [], "cards": 3}).json()["cards"]
    answers = [
        {
            "said": "true" if tuple(card[part]["id"] for part in ("head", "relation", "tail")) in true else "false",
            "triple": card["triple"],
            "key": f"{who}-{card['triple']}",
        }
        for card in cards
    ]
    reply = client.post("/api/exchange", json={"judgements": answers, "cards": 0})
    assert reply.status_code == 200
    return len(answers), reply.json()["progress"]


def test_two_people_judge_through_the_page_and_files_come_out(tmp_path):
    rows, true = make_candidates(600)
    scores = write_rows(tmp_path / "scores.tsv", "head relation tail score", rows)
    session = tmp_path / "session"
    actc("start", session, scores, "--budget", 60, "--overlap", 0.3, "--seed", 1)
    words = ["annotate", session, "--annotator", "Ada", "--annotator", "Bob", "--no-browser", "--port", 0]
    command = [sys.executable, "-u", "-m", "actc.cli.main", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        try:
            links = {}
            for line in page.stdout:
                if match := re.match(r"(owner|Ada|Bob) +(http\S+)", line):
                    links[match[1]] = match[2]
                if len(links) == 3:
                    break
            people = {name: open_page(links[name]) for name in ("Ada", "Bob")}
            cards = 1
            while cards:
                done = [judge_cards(client, name, true) for name, client in people.items()]
                cards, progress = sum(count for count, _ in done), done[-1][1]
            for client in people.values():
                client.close()
        finally:
            page.send_signal(signal.SIGINT)
    assert page.returncode == 130  # ended by Ctrl+C
    assert (progress["labels"], progress["left"]) == (60, "spent")

    names = ("labels.tsv", "history.jsonl", "thresholds.json", "accepted.tsv")
    labels, history, thresholds, accepted = (tmp_path / name for name in names)
    words = ["--labels", labels, "--history", history, "--thresholds", thresholds, "--accepted", accepted]
    actc("export", session, *words)
    judged = read_rows(labels)
    assert list(judged[0])[:5] == ["head", "relation", "tail", "score", "label"]
    assert len(judged) == 60
    assert {(row["head"], row["relation"], row["tail"]) for row in judged if row["label"] == "1"} == true & facts_of(
        labels
    )
    said = [json.loads(line) for line in history.read_text().splitlines()]
    assert len(said) >= 60 * 1.2  # some cards were for both
    assert precision(facts_of(accepted), true) >= 0.9
    assert len(facts_of(accepted) & true) >= 0.9 * len(true)
    assert list(read_rows(accepted)[0])[:4] == ["head", "relation", "tail", "score"]

    # The thresholds decide the same candidates the same way.
    actc("decide", thresholds, scores, "--out", tmp_path / "again.tsv")
    assert facts_of(tmp_path / "again.tsv") == facts_of(accepted)
