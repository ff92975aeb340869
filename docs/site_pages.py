"""The pages of the site: the repository's Markdown at its own place, and every file that a page links to.

MkDocs calls this as a hook. Links between pages are written for a reader of the repository, and lead out of ``docs``
(to ``benchmarks``, to ``src``); so the site has the repository's layout, and the links lead where they lead there.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

import actc

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PYTHON = PurePosixPath("docs/python.md")
REFERENCE = PurePosixPath("docs/reference.md")
STYLE = """
.md-grid { max-width: 72rem; }
.md-typeset > p, .md-typeset > ul, .md-typeset > ol { max-width: 46rem; }
.md-typeset pre > code { font-size: .64rem; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) th, .md-typeset table:not([class]) td { min-width: 0; padding: .45em .8em; }
.md-typeset tr:has(:nth-child(11)) > * { padding: .4em .5em !important; }
.md-typeset td code { word-break: normal; overflow-wrap: normal; }
@media (min-width: 60em) { .md-typeset p > code, .md-typeset li > code { white-space: nowrap; } }
"""  # room for tables: many have seven columns or more


SECTIONS = {"docs/how-to": "How to", "docs": "Explanation"}
"""Where a page goes that mkdocs.yml does not name: the end of this section."""


def on_config(config: Any) -> Any:
    """Put every page into the navigation."""
    sections = {title: pages for section in config.nav for title, pages in section.items() if isinstance(pages, list)}
    named = {path for pages in sections.values() for page in pages for path in page.values()}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        place = path.relative_to(ROOT)
        if place.as_posix() not in named:
            sections[SECTIONS[place.parent.as_posix()]].append(place.as_posix())
    return config


def on_files(files: Files, config: Any) -> Files:
    """Replace what is in ``docs_dir`` by what belongs to the site; the theme's own files stay."""
    site = Files([file for file in files if file.page is None and not _is_ours(file)])
    for path in sorted(_everything()):
        name = path.relative_to(ROOT).as_posix()
        site.append(File.generated(config, name, abs_src_path=str(path)))
    site.append(File.generated(config, str(PYTHON), content=python_page()))
    site.append(File.generated(config, str(REFERENCE), content=reference_page()))
    site.append(File.generated(config, "assets/site.css", content=STYLE))
    return site


def _is_ours(file: File) -> bool:
    return file.abs_src_path is not None and Path(file.abs_src_path).is_relative_to(ROOT / "docs")


def _everything() -> set[Path]:
    """Return the repository's pages and all files that are reached from them, link by link."""
    found: set[Path] = set()
    new = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")}
    while new:
        found |= new
        new = {path for page in new if page.suffix == ".md" for path in _linked(page)} - found
    return found


def _linked(page: Path) -> set[Path]:
    targets = ((page.parent / target).resolve() for target in LINK.findall(page.read_text(encoding="utf-8")))
    return {path for path in targets if path.is_file()}


def python_page() -> str:
    """Return a page that asks mkdocstrings for every public name's signature and docstring."""
    names = actc.__all__
    blocks = [f"::: actc.{name}\n" for name in names]
    return "\n".join(["# Python", "", "Everything that `import actc` offers, from the docstrings.", "", *blocks])


def reference_page() -> str:
    """Return the page of commands, choices and files."""
    page: str = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))["reference"]()
    return page
