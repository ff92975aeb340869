"""The studio's routes: each is one call of what a command calls, or that command as a run of its own."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Body, FastAPI, HTTPException, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, HTMLResponse, Response

from actc import __version__
from actc.data.text_files import read_amount, render
from actc.errors import OptionError
from actc.session.processes import make_file
from actc.web.access import REPORT_POLICY, Gate, checking, welcome
from actc.web.routes import PersonBody
from actc.web.server import add_refusals, get_file
from actc.web.studio.commands import RunBody, commands_of, list_downloads, make_download
from actc.web.studio.decisions import deciding
from actc.web.studio.describe import describe_line, describe_project, find_report
from actc.web.studio.project import (
    CHANGING,
    ONE,
    Project,
    Role,
    add_sample,
    create_project,
    delete_project,
    find_project,
    list_projects,
    safe_name,
)
from actc.web.studio.recognise import SENTENCES, add_names, guess_role, look_at, pick_columns, write_sentence
from actc.web.studio.runs import add_run, list_runs, resume_runs
from actc.web.studio.studio import PREFIX, OpenProject, OpenStudio, Studio, studio_of

MOST_UPLOAD = read_amount("ACTC_STUDIO_UPLOAD", "8GB") or 4 * 1024**3
"""Bytes of one file."""
LEFT_FREE = 512 * 1024**2
"""Bytes of the disk that an upload leaves free: sessions need some."""
FileName = Annotated[str, InPath(max_length=1000)]
PAGES = APIRouter(include_in_schema=False)
ROUTES = APIRouter(prefix="/api", route_class=checking(studio_of))


@ROUTES.get("/studio")
def get_studio(studio: OpenStudio) -> dict[str, Any]:
    """Return the projects, and what is to be known of the studio itself."""
    lines = [describe_line(project) for project in list_projects(studio.folder)]
    return {"version": __version__, "folder": str(studio.folder), "projects": lines}


@ROUTES.post("/projects")
def make_project(
    studio: OpenStudio, title: Annotated[str, Body()], sample: Annotated[bool, Body()] = False
) -> dict[str, str]:
    """Make a project; with the packaged graph in it, if that is wanted."""
    project = create_project(studio.folder, title)
    if sample:
        add_sample(project)
    return {"name": project.name}


@ROUTES.get("/projects/{name}")
def get_project(project: OpenProject, studio: OpenStudio) -> dict[str, Any]:
    """Return all that a project's page shows."""
    return describe_project(studio, project)


@ROUTES.post("/projects/{name}")
def change_project(chosen: dict[str, Any], project: OpenProject, studio: OpenStudio) -> dict[str, Any]:
    """Choose anew, what is not named stays; title and guidelines reach people who judge at once."""
    if project.session is not None and chosen.get("goal", project.options.goal) != project.options.goal:
        raise OptionError("People judge here for this goal already; for another one make a new project.")
    project = project.change(chosen)
    if project.session is not None:
        lasting = ("title", "guidelines", "precision", "budget")
        changes = {key: getattr(project.options, key) for key in lasting if chosen.get(key) is not None}
        studio.served(project.name).session.change(changes)
    return describe_project(studio, project)


@ROUTES.delete("/projects/{name}")
def remove(project: OpenProject, studio: OpenStudio) -> dict[str, str]:
    """Delete a project for good."""
    with studio.closed(project.name):
        delete_project(project)
    return {"deleted": project.name}


@ROUTES.put("/projects/{name}/files/{file}")
async def put_file(
    request: Request,
    project: OpenProject,
    file: FileName,
    role: Role | Literal[""] = "",
) -> dict[str, Any]:
    """Take a file; it is there when it is there as a whole, and a file of the same name stays until then."""
    name = safe_name(file)
    if (project.files / name).is_dir() or (name in project.roles and unicodedata.normalize("NFC", file) != name):
        raise OptionError(f"{file[:60]!r} would be stored as {name}, which is here already; rename the file.")
    beside = project.files / f".{secrets.token_hex(8)}"
    try:
        project.files.mkdir(exist_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            async for part in request.stream():
                await to_thread.run_sync(_write, out, part)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, project.files / name)
        taken = await to_thread.run_sync(_take, project, name, role)
    except OSError as error:
        raise HTTPException(507, f"{name} cannot be stored: {(error.strerror or str(error)).lower()}.") from None
    finally:
        beside.unlink(missing_ok=True)
    return taken


def _write(out: Any, part: bytes) -> None:
    free = os.statvfs(out.fileno())
    if free.f_bavail * free.f_frsize < LEFT_FREE + len(part):
        raise HTTPException(507, "There is too little room on the disk for this file.")
    out.write(part)


def _take(project: Project, name: str, role: str) -> dict[str, Any]:
    """Give an upload its role, in the project as it is by now."""
    kind, project = role or guess_role(project.files / name), Project.read(project.folder)
    others = [other for other in project.names_of(kind) if other != name]
    if others and not role and kind in ONE:  # the page asks what becomes of it
        project.with_file(name, "unused")
        return {"name": name, "role": "unused", "guess": kind, "other": others[0]}
    project = project.with_file(name, kind)
    if kind == "scores" and project.session is None:  # what they are for
        project.change({"goal": "decide"})
    add_names(project, name)
    return {"name": name, "role": kind}


@ROUTES.delete("/projects/{name}/files/{file}")
def remove_file(project: OpenProject, file: FileName) -> dict[str, Any]:
    """Remove a file from a project."""
    project.without_file(file)
    return {"removed": file}


@ROUTES.post("/projects/{name}/files/{file}")
def set_role(project: OpenProject, file: FileName, role: Annotated[Role, Body(embed=True)]) -> dict[str, Any]:
    """Change the role of a file that was guessed wrongly."""
    project.path_of(file)
    add_names(project.with_file(file, role), file)
    return {"name": file, "role": role}


@ROUTES.post("/projects/{name}/files/{file}/columns")
def choose_columns(
    project: OpenProject, file: FileName, columns: Annotated[dict[str, str], Body()], header: Annotated[bool, Body()]
) -> dict[str, Any]:
    """Choose which columns of a table, each by its place, are head, relation and tail, and perhaps score and text."""
    project.path_of(file)
    return {"roles": pick_columns(project, file, columns, header).roles}


@ROUTES.post("/projects/{name}/sentences")
def set_sentence(
    project: OpenProject, relation: Annotated[str, Body()], template: Annotated[str, Body(max_length=500)]
) -> dict[str, str]:
    """Change how people read the facts of a relation."""
    write_sentence(project, relation, template)
    add_names(project.with_file(SENTENCES, "names"), SENTENCES)
    return {"relation": relation}


@ROUTES.get("/projects/{name}/preview")
def get_preview(project: OpenProject) -> dict[str, Any]:
    """Return what the files are, and the first card."""
    return look_at(project)


@ROUTES.post("/projects/{name}/runs")
def start_run(body: RunBody, project: OpenProject, studio: OpenStudio) -> dict[str, Any]:
    """Start the run that a button asks for."""
    commands = commands_of(project, body)
    with CHANGING:
        find_project(studio.folder, project.name)  # not one that has just been removed
        run = add_run(project.folder, body.what, commands, body.where)
        run.start()
    return run.describe()


@ROUTES.post("/projects/{name}/runs/{number}/{act}")
def change_run(
    project: OpenProject, number: Annotated[int, InPath(ge=1, le=10**9)], act: Literal["cancel", "again"]
) -> dict[str, Any]:
    """End a run, or let one that failed or was cancelled go on."""
    run = next((one for one in list_runs(project.folder) if one.id == number), None)
    if run is None:
        raise HTTPException(404, "There is no such run.")
    with CHANGING:
        run.cancel() if act == "cancel" else run.again()
    return run.describe()


@ROUTES.get("/projects/{name}/people")
def get_people(project: OpenProject, studio: OpenStudio) -> list[dict[str, Any]]:
    """Return who may judge, each with a link for other machines and its QR code."""
    return studio.people(project.name)


@ROUTES.post("/projects/{name}/people")
def add_person(body: PersonBody, project: OpenProject, studio: OpenStudio) -> dict[str, Any]:
    """Give somebody a link."""
    person = studio.served(project.name).session.add_annotator(body.name)
    return next(one for one in studio.people(project.name) if one["name"] == person.name)


@ROUTES.post("/projects/{name}/finish")
def finish(
    project: OpenProject, studio: OpenStudio, finished: Annotated[bool, Body(embed=True)] = True
) -> dict[str, Any]:
    """Stop the questions to people, or resume them."""
    studio.served(project.name).session.change({"paused": finished})
    return describe_project(studio, project)


@ROUTES.get("/projects/{name}/downloads")
def get_downloads(project: OpenProject) -> list[dict[str, Any]]:
    """Return what there is to download."""
    return [one.describe() for one in list_downloads(project)]


@ROUTES.get("/projects/{name}/downloads/{file}")
def get_download(project: OpenProject, file: Annotated[str, InPath(max_length=100)], studio: OpenStudio) -> Response:
    """Return a file to download: its name is looked up, never joined to a path."""
    path = make_download(project, file)
    if path is None:
        headers = {"content-disposition": f'attachment; filename="{file}"'}
        content = make_file(studio.served(project.name).session, file)
        return Response(content, media_type="application/octet-stream", headers=headers)
    return FileResponse(path, media_type="application/octet-stream", filename=file)


@PAGES.get("/")
async def home(studio: OpenStudio) -> Response:
    """Return the page with the projects."""
    return HTMLResponse(render("studio.html", files="files"))


@PAGES.get("/project/{name}")
def project_page(project: OpenProject) -> Response:
    """Return the page of a project."""
    return HTMLResponse(render("project.html", files="../files", name=project.name))


@PAGES.get("/project/{name}/report")
def report_page(project: OpenProject) -> Response:
    """Return the report of the last decision, with a way back."""
    path = find_report(project)
    if path is None:
        raise HTTPException(404, "There is no report yet: decide first.")
    back = render("back.html", address=f"../{project.name}#take", title=project.options.title)
    text = path.read_text(encoding="utf-8", errors="replace")
    page = re.sub(r"<body[^>]*>", lambda body: f"{body[0]}\n{back}", text, count=1)
    return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})


PAGES.get("/files/{name:path}")(get_file)


@PAGES.get("/s/{token}")
async def enter(request: Request, token: Annotated[str, InPath(max_length=64)]) -> Response:
    """Let people with the studio's link in."""
    studio: Studio = request.app.state.studio
    if not studio.opens(token):
        raise HTTPException(404, "This link is not valid. The terminal in which the studio runs shows the right one.")
    return welcome(request, studio.cookie, token, studio.place, "/")


def create_studio(folder: Any, host: str = "127.0.0.1", address: str | None = None) -> FastAPI:
    """Return the application over a folder with projects."""
    studio = Studio(folder, host, address)

    @contextlib.asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        resume_runs(folder)
        yield
        await to_thread.run_sync(studio.close)

    app = FastAPI(title="actc studio", version=__version__, openapi_url=None, lifespan=running)
    app.state.studio, app.state.address = studio, address
    app.add_middleware(Gate, host=host, uploads=MOST_UPLOAD, place=studio.place, public=address)
    for router in (ROUTES, deciding, PAGES):
        app.include_router(router)
    app.mount(PREFIX.rstrip("/"), studio)
    add_refusals(app)
    return app
