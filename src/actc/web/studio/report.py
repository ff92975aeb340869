"""The report of a project as a page of the studio: the file as it is, with a way back above it."""

from __future__ import annotations

import re
from pathlib import Path

from actc.data.pages import render
from actc.web.studio.project import Project


def find_report(project: Project) -> Path | None:
    """Return the report that the last decision wrote; None where there is none."""
    path = project.result / "report.html"
    return path if path.is_file() and not path.is_symlink() else None


def in_studio(report: Path, project: Project) -> str:
    """Return a report with a line above it that leads back to its project."""
    back = render("back.html", address=f"../{project.name}#take", title=project.options.title)
    page = report.read_text(encoding="utf-8", errors="replace")
    return re.sub(r"<body[^>]*>", lambda body: f"{body[0]}\n{back}", page, count=1)
