"""Run the studio: one server, one address with a secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from actc.errors import FileError, MissingExtraError


def serve_studio(
    folder: str | Path = "actc-studio",
    host: str = "127.0.0.1",
    port: int = 8766,
    announce: Callable[[str], None] = lambda link: None,
) -> None:
    """Serve the studio of a folder until interrupted, as ``actc studio`` does.

    Parameters
    ----------
    folder : path
        Where the projects are; made if it is not there. The first project of a new one has the packaged graph.
    host, port : str, int
        Where to listen; port 0 takes any free one.
    announce : callable
        Receives the studio's link, once the server listens.
    """
    try:
        from actc.web.serve import address_of, listen, run_server
        from actc.web.studio.server import create_studio
    except ImportError:
        raise MissingExtraError("The studio", "fastapi, uvicorn and segno", "app") from None
    with listen(host, port) as listener:  # refused before anything is made
        app = create_studio(prepare(Path(folder)), host)
        announce(f"{address_of(host, listener.getsockname()[1])}/s/{app.state.studio.token}")
        run_server(app, listener)


def prepare(folder: Path) -> Path:
    """Return a studio's folder; a new one gets a first project with the packaged graph."""
    from actc.web.studio.project import HIDDEN, add_sample, new_project

    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileError(f"{folder} is no folder; give the name of a folder, or of one to be made.")
    folder = folder.absolute()
    if (folder / HIDDEN).exists() and not (folder / HIDDEN).is_dir():
        raise FileError(f"{folder / HIDDEN} is no folder; remove it, or give the name of another folder.")
    if not (folder / HIDDEN).exists():
        if folder.exists() and any(folder.iterdir()):
            raise FileError(f"{folder} has files in it that are no studio's; give an empty folder, or a new name.")
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (folder / HIDDEN).mkdir(mode=0o700)  # before anything else: killed here, it is a studio's folder
        add_sample(new_project(folder, "Words and what they mean"))
    return folder
