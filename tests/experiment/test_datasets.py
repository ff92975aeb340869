from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from actc.errors import ChoiceError, FileError
from actc.experiment import datasets
from actc.experiment.download import hash_file

DATA = Path(os.environ.get("ACTC_DATA") or "../shared/data")
needs_data = pytest.mark.skipif(not (DATA / "codex-s" / "train.txt").is_file(), reason="ACTC_DATA is not set")


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def no_local_data(monkeypatch, tmp_path) -> Path:
    monkeypatch.delenv("ACTC_DATA", raising=False)
    monkeypatch.setenv("ACTC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_authors_file(split: str, path: Path) -> None:
    """Write the local table of published scores as the authors' repository has it: no header, no labels."""
    with gzip.open(DATA / "scores" / "codex-s" / "complex-authors" / f"{split}.tsv.gz", "rt") as lines:
        next(lines)
        path.write_text("".join(line.rpartition("\t")[0] + "\n" for line in lines))


@pytest.fixture
def mirror(monkeypatch, no_local_data, tmp_path) -> Iterator[Path]:
    """Serve the local copies from this machine in the place of their public homes."""
    home = tmp_path / "home"
    home.mkdir()
    for dataset in datasets.DATASETS:
        (home / dataset).symlink_to((DATA / dataset).resolve())
    for split in ("valid", "test"):
        write_authors_file(split, home / f"{split}_score.tsv")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=home))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(datasets, "CODEX", address + "/{dataset}/{name}")
    monkeypatch.setattr(datasets, "AUTHORS", address + "/{name}")
    yield no_local_data
    server.shutdown()
    thread.join()
    server.server_close()


@needs_data
def test_triples_are_downloaded_checked_and_kept(mirror):
    valid = datasets.load_triples("codex-s", "valid")
    assert len(valid) == 3654
    assert valid.labels.sum() == 1827
    assert (valid.heads[0], valid.relations[0], valid.tails[0]) == ("Q928", "P530", "Q41")
    assert sorted(path.name for path in (mirror / "codex-s").iterdir()) == [
        "valid.txt",
        "valid_negatives.txt",
    ]


@needs_data
@pytest.mark.parametrize("name", [name for name in datasets.CHECKSUMS if name.startswith("codex")])
def test_the_local_files_have_the_pinned_checksums(name):
    assert hash_file(DATA / name) == datasets.CHECKSUMS[name]


@needs_data
def test_the_published_scores_have_the_pinned_checksums(tmp_path):
    for split in ("valid", "test"):
        write_authors_file(split, tmp_path / split)
        assert hash_file(tmp_path / split) == datasets.CHECKSUMS[f"complex-authors/{split}_score.tsv"]


@needs_data
@pytest.mark.parametrize("dataset", datasets.DATASETS)
@pytest.mark.parametrize("model", datasets.MODELS)
def test_committed_arrays_with_the_codex_files_are_the_shared_tables(dataset, model, monkeypatch):
    monkeypatch.setenv("ACTC_DATA", str(DATA))
    for split in datasets.SPLITS:
        triples = datasets.load_triples(dataset, split)
        scores = datasets.load_array(dataset, model, split)
        with gzip.open(DATA / "scores" / dataset / model / f"{split}.tsv.gz", "rt") as lines:
            next(lines)
            columns = list(zip(*(line.rstrip("\n").split("\t") for line in lines), strict=True))
        assert columns[:3] == [triples.heads, triples.relations, triples.tails]
        np.testing.assert_array_equal(scores, np.array(columns[3], dtype=np.float64))
        if split != "train":
            np.testing.assert_array_equal(triples.labels, np.array(columns[4], dtype=np.int64) == 1)


@needs_data
@pytest.mark.parametrize("model", ["complex", "complex-authors"])
def test_a_stranger_with_internet_gets_the_cell_that_the_local_tables_hold(model, mirror, monkeypatch):
    downloaded = datasets.load_cell("codex-s", model)
    monkeypatch.setenv("ACTC_DATA", str(DATA))
    local = datasets.load_cell("codex-s", model)
    assert (downloaded.dataset, downloaded.model) == (local.dataset, local.model)
    for split in ("valid", "test", "known"):
        one, other = getattr(downloaded, split), getattr(local, split)
        assert (one is None) == (other is None) == (split == "known" and model == "complex-authors")
        if one is not None:
            np.testing.assert_array_equal(one.keys, other.keys)
            np.testing.assert_array_equal(one.scores, other.scores)
            assert one.entity_names == other.entity_names
    np.testing.assert_array_equal(downloaded.valid_labels, local.valid_labels)
    np.testing.assert_array_equal(downloaded.test_labels, local.test_labels)


@needs_data
def test_training_triples_are_all_true(monkeypatch):
    monkeypatch.setenv("ACTC_DATA", str(DATA))
    train = datasets.load_triples("codex-s", "train")
    assert len(train) == 32888
    assert train.labels.all()


@pytest.mark.parametrize("digits", [6, 7])
def test_rounding_is_what_writing_and_reading_text_does(digits):
    values = np.random.default_rng(0).normal(size=20_000) * 10.0 ** np.random.default_rng(1).integers(-4, 4, 20_000)
    values[0] = 0.0
    expected = [float(f"{value:.{digits}g}") for value in values]
    np.testing.assert_array_equal(datasets.round_significant(values, digits), expected)


def test_the_models_of_the_paper_come_first(monkeypatch, tmp_path):
    monkeypatch.delenv("ACTC_DATA", raising=False)
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    for model in ("tucker", "transe", "complex", "analogy"):
        (tmp_path / "codex-s" / model).mkdir(parents=True)
        (tmp_path / "codex-s" / model / "valid.npy").touch()
    assert datasets.list_models("codex-s") == ["complex", "transe", "analogy", "tucker"]


def test_offline_without_data_is_one_sentence_with_the_way_out(monkeypatch, no_local_data):
    monkeypatch.setattr(datasets, "CODEX", "http://127.0.0.1:1/{dataset}/{name}")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(FileError, match=r"Is this machine offline\? .* ACTC_DATA"):
        datasets.load_triples("codex-s", "valid")


def test_a_folder_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileError, match="nowhere"):
        datasets.load_triples("codex-s", "valid")


def test_a_missing_file_of_the_local_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"valid\.txt is missing"):
        datasets.load_triples("codex-s", "valid")


def test_missing_scores_say_where_they_should_be(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_SCORES", str(tmp_path))
    with pytest.raises(FileError, match="ACTC_SCORES"):
        datasets.load_array("codex-s", "tucker", "valid")


def test_an_unknown_data_set_is_answered_with_the_known_ones():
    with pytest.raises(ChoiceError, match="codex-s, codex-m"):
        datasets.load_triples("codex-l", "valid")


def test_a_broken_line_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTC_DATA", str(tmp_path))
    (tmp_path / "codex-s").mkdir()
    (tmp_path / "codex-s" / "train.txt").write_text("a\tr\tb\na\tr\n")
    with pytest.raises(FileError, match="line 2: 3 columns"):
        datasets.load_triples("codex-s", "train")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"ACTC_CACHE": "/a/b"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/actc"),
        ({"HOME": "/home/ada"}, "/home/ada/.cache/actc"),
    ],
)
def test_the_cache_follows_the_rules_of_the_desktop(environment, expected, monkeypatch):
    for name in ("ACTC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert datasets.cache_folder() == Path(expected)
