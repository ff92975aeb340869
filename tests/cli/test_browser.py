"""The page that a command opens: the secret of its link is for the user's eyes alone."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from actc.data.files import write_scored
from actc.session import start_session
from tests.conftest import make_pool

BROWSER = """#!/bin/sh
file="${1#file://}"
{ echo "$1"; stat -c %a "$file"; cat "$file"; } > "$SEEN.part"
mv "$SEEN.part" "$SEEN"
"""


@pytest.mark.parametrize("command", ["annotate", "studio"])
def test_a_browser_is_started_with_a_private_file_that_leads_to_the_link(command, tmp_path):
    write_scored(tmp_path / "scores.tsv", make_pool(30, 2)[0])
    start_session(tmp_path / "annotate", tmp_path / "scores.tsv").close()
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    ours, terminal = pty.openpty()
    line = [sys.executable, "-m", "actc.cli.main", command, tmp_path / command, "--port", "0"]
    env = os.environ | {"BROWSER": f"{browser} %s", "SEEN": str(seen)}
    with subprocess.Popen(line, stdout=terminal, stderr=terminal, env=env) as server:
        until = time.monotonic() + 60
        while not seen.exists() and server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        server.send_signal(signal.SIGTERM)
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # at the end of what was written
        while part := os.read(ours, 10_000):  # a terminal may give it in parts
            shown += part
    argument, rights, page = seen.read_text().split("\n", 2)
    (link,) = re.findall(r"url=(http://[^\"]+)", page)
    assert rights == "600"
    assert link in shown.decode()
    assert link.rpartition("/")[2] not in argument
    assert not os.path.exists(argument.removeprefix("file://"))
