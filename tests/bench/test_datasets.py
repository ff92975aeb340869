from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from actc.bench import datasets
from actc.bench.cells import Cell, list_cells, load_cell
from actc.bench.datasets import fetch_file
from actc.errors import ChoiceError, FileError

SUMS = Path(__file__).parents[2] / "benchmarks" / "scores" / "tables.sha256"
TABLES = {name: digest for digest, name in (line.split() for line in SUMS.read_text().splitlines())}
AUTHORS_SPLITS = {"valid": "complex-authors/valid_score.tsv", "test": "complex-authors/test_score.tsv"}


def spell(*columns) -> str:
    """Write columns as lines of text with tabs between them."""
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))


def spell_table(dataset: str, model: str, split: str) -> str:
    """Write a split as the score tables have it: a header, the triples, the scores, the labels where there are any."""
    scored, labels = datasets.load_scored(dataset, model, split)
    digits = 17 if model == "complex-authors" else datasets.DIGITS[split]
    columns = {**scored.columns(), "score": [f"{score:.{digits}g}" for score in scored.scores]}
    if split != "train":
        columns["label"] = labels.astype(int).astype(str)
    return "\t".join(columns) + "\n" + spell(*columns.values())


def spell_published(split: str) -> str:
    """Write the published scores as the authors' repository has them: no header, no labels."""
    scored, _ = datasets.load_scored("codex-s", "complex-authors", split)
    return spell(*scored.columns().values(), map(repr, scored.scores.tolist()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def assert_same_cells(one: Cell, other: Cell) -> None:
    assert (one.dataset, one.model) == (other.dataset, other.model)
    for split in ("valid", "test", "known"):
        ours, theirs = getattr(one, split), getattr(other, split)
        assert (ours is None) == (theirs is None) == (split == "known" and one.model == "complex-authors")
        if ours is not None:
            np.testing.assert_array_equal(ours.keys, theirs.keys)
            np.testing.assert_array_equal(ours.scores, theirs.scores)
            assert ours.entity_names == theirs.entity_names
    np.testing.assert_array_equal(one.valid_labels, other.valid_labels)
    np.testing.assert_array_equal(one.test_labels, other.test_labels)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def public_home(tmp_path_factory) -> Path:
    """The text files as their public homes have them, spelled out of the committed arrays."""
    home = tmp_path_factory.mktemp("home")
    for dataset in datasets.DATASETS:
        (home / dataset).mkdir()
        for name in datasets.CODEX_FILES:
            (home / dataset / f"{name}.txt").write_text(spell(*datasets.load_columns(dataset, name)))
    for split in AUTHORS_SPLITS:
        (home / f"{split}_score.tsv").write_text(spell_published(split))
    return home


@pytest.fixture
def no_checkout(monkeypatch, tmp_path) -> Path:
    """An installed package without its repository, and an empty cache."""
    monkeypatch.setattr(datasets, "TRIPLES", Path("no-such-folder"))
    monkeypatch.setattr(datasets, "SCORES", Path("no-such-folder"))
    monkeypatch.setenv("ACTC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def mirror(monkeypatch, public_home, no_checkout) -> Iterator[Path]:
    """Serve the text files from this machine in the place of their public homes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=public_home))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(datasets, "CODEX", address + "/{dataset}/{name}")
    monkeypatch.setattr(datasets, "AUTHORS", address + "/{name}")
    yield no_checkout
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", [name for name in datasets.CHECKSUMS if name.startswith("codex")])
def test_the_arrays_spell_the_files_that_codex_published(name):
    dataset, file = name.split("/")
    assert digest(spell(*datasets.load_columns(dataset, file.removesuffix(".txt")))) == datasets.CHECKSUMS[name]


@pytest.mark.parametrize("split", AUTHORS_SPLITS)
def test_the_arrays_spell_the_scores_that_the_authors_published(split):
    assert digest(spell_published(split)) == datasets.CHECKSUMS[AUTHORS_SPLITS[split]]


@pytest.mark.parametrize("name", TABLES)
def test_the_arrays_spell_the_tables_they_were_packed_from(name):
    dataset, model, file = name.split("/")
    assert digest(spell_table(dataset, model, file.removesuffix(".tsv"))) == TABLES[name]


@pytest.mark.parametrize("model", ["complex", "complex-authors"])
def test_a_checkout_holds_the_cell_that_a_folder_of_tables_holds(model, monkeypatch, tmp_path):
    folder = tmp_path / "scores" / "codex-s" / model
    folder.mkdir(parents=True)
    for split in ("valid", "test") if model == "complex-authors" else datasets.SPLITS:
        (folder / f"{split}.tsv").write_text(spell_table("codex-s", model, split))
    committed = load_cell("codex-s", model)
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    assert_same_cells(committed, load_cell("codex-s", model))


def test_a_stranger_with_internet_gets_the_published_cell(mirror, monkeypatch):
    downloaded = load_cell("codex-s", "complex-authors")
    monkeypatch.undo()
    assert_same_cells(downloaded, load_cell("codex-s", "complex-authors"))


def test_a_checkout_needs_no_download(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "CODEX", "http://127.0.0.1:1/{dataset}/{name}")
    monkeypatch.setattr(datasets, "AUTHORS", "http://127.0.0.1:1/{name}")
    monkeypatch.setenv("ACTC_CACHE", str(tmp_path / "cache"))
    names = [(cell.dataset, cell.model) for cell in list_cells() if cell.load(with_known=False)]
    assert ("codex-s", "complex-authors") in names
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("dataset", "sizes"),
    [("codex-s", (32888, 3654, 3656, 2034, 42)), ("codex-m", (185584, 20620, 20622, 17050, 51))],
)
def test_codex_has_the_sizes_of_the_papers_first_table(dataset, sizes):
    (train, _), (valid, valid_labels), (test, test_labels) = (
        datasets.load_triples(dataset, split) for split in ("train", "valid", "test")
    )
    entities = {*train.entity_names, *valid.entity_names, *test.entity_names}
    assert (len(train), len(valid), len(test), len(entities), len(train.relation_names)) == sizes
    assert valid_labels.mean() == test_labels.mean() == 0.5


@pytest.mark.parametrize("digits", [6, 7])
def test_rounding_is_what_writing_and_reading_text_does(digits):
    values = np.random.default_rng(0).normal(size=20_000) * 10.0 ** np.random.default_rng(1).integers(-4, 4, 20_000)
    values[0] = 0.0
    expected = [float(f"{value:.{digits}g}") for value in values]
    np.testing.assert_array_equal(datasets.round_significant(values, digits), expected)


def test_offline_without_data_is_one_sentence_with_the_way_out(monkeypatch, no_checkout):
    monkeypatch.setattr(datasets, "CODEX", "http://127.0.0.1:1/{dataset}/{name}")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(FileError, match=r"ACTC_DATA"):
        datasets.load_triples("codex-s", "valid")


def test_missing_scores_say_where_they_should_be(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    with pytest.raises(FileError, match="ACTC_SCORES"):
        datasets.load_scored("codex-s", "tucker", "valid")


def test_an_unknown_data_set_is_answered_with_the_known_ones():
    with pytest.raises(ChoiceError, match="codex-s, codex-m"):
        datasets.load_triples("codex-l", "valid")


def test_a_broken_line_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    (tmp_path / "codex-s").mkdir()
    (tmp_path / "codex-s" / "train.txt").write_text("a\tr\tb\na\tr\n")
    with pytest.raises(FileError, match="line 2.*3"):
        datasets.load_triples("codex-s", "train")


CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Shelf(ThreadingHTTPServer):
    """A server of one file on this machine, with the faults of real ones."""

    daemon_threads = True
    content = CONTENT

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.faults: list[int | str] = []  # one per request: a status to refuse with, or "break" in mid-file
        self.requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file"


class Answer(BaseHTTPRequestHandler):
    server: Shelf

    def do_GET(self) -> None:
        self.server.requests += 1
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
            return
        body = self.server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "break" else body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    server = Shelf()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_fetched_once(shelf, tmp_path):
    path = tmp_path / "new" / "file"
    assert fetch_file(shelf.url, path, SHA256) == path
    assert path.read_bytes() == CONTENT
    fetch_file(shelf.url, path, SHA256)
    assert shelf.requests == 1


def test_another_file_than_expected_is_refused_and_not_kept(shelf, tmp_path):
    shelf.content = b"something else"
    with pytest.raises(FileError):
        fetch_file(shelf.url, tmp_path / "file", SHA256)
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_and_a_broken_download_are_named_and_leave_nothing(shelf, tmp_path):
    shelf.faults = [404, "break"]
    with pytest.raises(FileError, match="404"):
        fetch_file(shelf.url, tmp_path / "file", SHA256)
    with pytest.raises(FileError, match="Try again"):
        fetch_file(shelf.url, tmp_path / "file", SHA256)
    assert list(tmp_path.iterdir()) == []
