"""Run the annotation page (a server, a planner beside it, and links for everybody) or the studio."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from actc.errors import OptionError, needing
from actc.session import OWNER, Session
from actc.session.processes import planning

MOST_CONNECTIONS = 800
"""Above so many at a time, requests are refused (503): a process may often have no more than 1,024 files open."""
SWITCH_SECONDS = 0.0005
"""How long one thread may keep Python from the others: an answer needs it again after each of thirty statements."""


def serve(
    folder: Path,
    prepare: Callable[[Session], None],
    host: str = "127.0.0.1",
    port: int = 8765,
    announce: Callable[[list[tuple[str, str]]], None] = lambda links: None,
    report: Callable[[str], None] = lambda sentence: None,
    public_url: str | None = None,
) -> None:
    """Serve a session until interrupted.

    Parameters
    ----------
    folder : Path
        The session.
    prepare : callable
        Changes the session, once the port is ours; if nobody has a link then, "you" gets one.
    host, port : str, int
        Where to listen; port 0 takes any free one.
    announce : callable
        Receives (who, link) for everybody, once the server listens.
    report : callable
        Receives sentences about what goes wrong in the background.
    public_url : str, optional
        The address under which a proxy shows the page, such as https://kg.example.org.
    """
    with needing("The annotation page", "fastapi and uvicorn", "app"):
        from actc.web.access import ALONE, address_for_others, address_of
        from actc.web.server import create_app
    check_public_url(public_url)
    with listen(host, port) as listener, closing(Session(folder)) as session:
        prepare(session)
        if not session.people():
            session.add_annotator(ALONE)
        with planning(session, report):
            port = listener.getsockname()[1]
            others = address_for_others(host, port, public_url)
            app = create_app(session, host, address=others)
            announce(links_of(session, others or address_of(host, port)))
            run_server(app, listener)


def serve_studio(
    folder: str | Path = "actc-studio",
    host: str = "127.0.0.1",
    port: int = 8766,
    announce: Callable[[str], None] = lambda link: None,
    public_url: str | None = None,
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
    public_url : str, optional
        The address under which a proxy shows the studio, such as https://kg.example.org.
    """
    with needing("The studio", "fastapi, uvicorn and segno", "app"):
        from actc.web.access import address_for_others, address_of
        from actc.web.studio.project import create_studio_folder
        from actc.web.studio.server import create_studio
    check_public_url(public_url)
    with listen(host, port) as listener:  # refused before anything is made
        port = listener.getsockname()[1]
        others = address_for_others(host, port, public_url)
        app = create_studio(create_studio_folder(Path(folder)), host, others)
        announce(f"{others or address_of(host, port)}/s/{app.state.studio.token}")
        run_server(app, listener)


def check_public_url(address: str | None) -> None:
    """Refuse what is no address of a proxy: the paths of pages come behind it."""
    scheme, _, name = (address or "").partition("://")
    if address is not None and (scheme not in ("http", "https") or not name or {*"/@? "} & {*name}):
        raise OptionError(f"{address!r} is no address of a proxy; give one such as https://kg.example.org.")


def run_server(app: Any, listener: socket.socket) -> None:
    """Serve an application on an open socket until interrupted."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Open the server's socket, or say why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, its connections get TCP_NODELAY from asyncio; unnamed, every answer would wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise OptionError(f"Cannot listen on {host}, port {port}: {reason}. Choose another with --port.") from None
    return listener


def links_of(session: Session, address: str) -> list[tuple[str, str]]:
    """Return everybody's name and link, the owner first."""
    from actc.web.access import Links

    links = Links.of(session.folder)
    return [(one.name, address + links.path(one)) for one in [session.annotator(OWNER), *session.people()]]


def link_to_open(links: Sequence[tuple[str, str]]) -> str:
    """Return the link that is opened when the server starts: a person's own if they judge alone, else the owner's."""
    from actc.web.access import ALONE

    alone = [name for name, _ in links] == [OWNER, ALONE]
    return links[1 if alone else 0][1]


@contextmanager
def browsing(link: str, folder: Path) -> Iterator[None]:
    """Open a link in a browser, soon, by way of a file that leads to it and is there as long as this lasts.

    What a browser is started with, everybody on the machine can read; the file, the user alone.
    """
    with NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix="open-", suffix=".html") as file:
        file.write(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(link)}">')
        file.flush()
        threading.Timer(0.5, webbrowser.open, (Path(file.name).absolute().as_uri(),)).start()
        yield
