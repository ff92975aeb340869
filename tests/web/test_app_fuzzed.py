"""The routes fuzzed from their own OpenAPI description: whatever is sent, nothing breaks the server."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, openapi

from actc.data.files import write_scored
from actc.session import OWNER
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.web.access import Links
from actc.web.server import create_app
from tests.conftest import make_pool

READ = ("picture", "answers", "guidelines", "owner")
READ_ONE = ("owner/review/{kind}", "owner/card/{triple}", "owner/download/{name}")
SENT = ("exchange", "more", "owner/settle", "owner/change", "owner/annotators", "owner/link")
OPERATIONS = [("GET", f"/api/{path}") for path in READ + READ_ONE] + [("POST", f"/api/{path}") for path in SENT]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
# There is no wrong way to ask for what takes no parameter.
NOTHING_TO_SAY = ("/api/picture", "/api/owner", "/api/guidelines")
CASES = [(*one, POSITIVE) for one in OPERATIONS]
CASES += [(*one, NEGATIVE) for one in OPERATIONS if one[1] not in NOTHING_TO_SAY]
UNLUCKY = ("/api/owner/settle", "/api/owner/card/{triple}", "/api/owner/link")
quick = settings(
    max_examples=40,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzzed")
    write_scored(folder / "scores.parquet", make_pool(80, 3)[0])
    session = create_session(folder / "session", folder / "scores.parquet", Settings(overlap=0.5))
    session.add_annotator("ada")
    app = create_app(session)
    app.state.pages.paces.burst = app.state.pages.paces.rate = 1e9
    return session, app


@pytest.fixture(scope="module")
def schema(served):
    session, app = served
    token = Links.of(session.folder).token(session.annotator("ada"))
    headers = {"authorization": f"Bearer {token}", "host": "127.0.0.1"}
    return openapi.from_asgi("/api/openapi.json", app, headers=headers)


def test_every_operation_is_fuzzed(schema):
    found = [result.ok() for result in schema.get_all_operations()]
    assert sorted((one.method.upper(), one.path) for one in found) == sorted(OPERATIONS)


@pytest.mark.long
@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_nothing_that_is_sent_breaks_the_server(served, schema, method, path, mode):
    session, _ = served
    who = OWNER if path.startswith("/api/owner") else "ada"
    token = Links.of(session.folder).token(session.annotator(who))
    headers = {"authorization": f"Bearer {token}", "host": "127.0.0.1"}
    operation = schema[path][method]
    seen = set()

    @quick
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case):
        answer = case.call(headers=headers)
        assert answer.status_code < 500
        seen.add(answer.status_code)

    send()
    # The owner can decide only what was judged, and change only a link that is there: nobody guesses one by luck.
    unlucky = path in UNLUCKY
    expected = {422} if mode == NEGATIVE else {409} if unlucky else {200}
    assert seen & expected, f"nothing that was sent got the answer {expected}: {seen}"
