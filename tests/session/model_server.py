"""A small server that speaks the OpenAI chat protocol, and misbehaves by its moods."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-not-for-any-file-4711"


class ModelServer(ThreadingHTTPServer):
    """Answers true to what ends in an even number; ``moods`` has how each request in turn is treated.

    "well", "slow", "busy" (429), "broken" (500), "cut" (half an answer), "nonsense", "echo" (of the key), "hang-up",
    "refuse" (400), "away" (a redirect); after the last, well.
    """

    daemon_threads = True

    def __init__(self, moods=(), key=None, seconds=0.0, can=("schema", "text"), refuses=()):
        super().__init__(("127.0.0.1", 0), Handler)
        self.can, self.refuses = can, refuses
        self.moods, self.key, self.seconds = list(moods), key, seconds
        self.bodies = []
        self.questions, self.headers, self.times, self.answered = [], [], [], Counter()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Say nothing: clients are killed in the tests."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *words):
        """Say nothing."""

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            mood = server.moods.pop(0) if server.moods else "well"
            server.questions.append(body["messages"][0]["content"])
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            server.times.append(time.monotonic())
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        time.sleep(0.3 if mood == "slow" else server.seconds)
        with server.lock:  # before the answer: who has it may ask the next question at once
            server.at_once -= 1
        self.treat(mood, body)

    def treat(self, mood, body):
        sent = self.headers.get("Authorization", "")
        refusals = {
            "busy": (429, {"error": f"Slow down, {sent}"}, {"Retry-After": "0.2"}),
            "broken": (500, {"error": f"Out of order, {sent}"}),
            "refuse": (400, {"error": f"No such model, {sent}"}),
            "away": (307, {}, {"Location": "http://127.0.0.1:9/elsewhere"}),
        }
        if self.server.key and sent != f"Bearer {self.server.key}":
            self.reply(401, {"error": f"Wrong key: {sent}"})
        elif mood in refusals:
            self.reply(*refusals[mood])
        elif mood == "hang-up":
            self.connection.close()
        elif self.way(body) in self.server.refuses:
            self.reply(400, {"error": "unknown field"})
        elif self.way(body) not in self.server.can:
            self.answer("nonsense", body["messages"][0]["content"])
        elif self.way(body) == "tokens":
            self.answer_in_tokens(body["messages"][0]["content"])
        else:
            self.answer(mood, body["messages"][0]["content"])

    def way(self, body):
        return "tokens" if "logprobs" in body else "schema" if "response_format" in body else "text"

    def answer_in_tokens(self, question):
        """Give probabilities of the first word, in several spellings; surer the larger the number asked about."""
        number = int(question.split()[-1].lstrip("h"))
        p = 0.5 + (0.3 if number % 2 == 0 else -0.3) + number / 1000
        spellings = {"True": 0.6 * p, " true": 0.3 * p, "\u2581FALSE": 0.9 * (1 - p), "Hello": 0.1}
        top = [{"token": token, "logprob": math.log(share)} for token, share in spellings.items()]
        choice = {"message": {"content": "True"}, "logprobs": {"content": [{"token": "True", "top_logprobs": top}]}}
        with self.server.lock:
            self.server.answered[question] += 1
        self.reply(200, {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 1}})

    def answer(self, mood, question):
        word = "true" if int(question.split()[-1].lstrip("h")) % 2 == 0 else "false"
        text = f'Well. {{"answer": "{word}", "probability": {0.9 if word == "true" else 0.1}, "reason": "I read it."}}'
        if mood == "nonsense":
            text = "The moon is made of cheese."
        if mood == "echo":
            text = f'{{"answer": "true", "reason": "you sent {self.headers.get("Authorization")}"}}'
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        message = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}
        with self.server.lock:
            self.server.answered[question] += mood != "cut"
        self.reply(200, message, cut=mood == "cut")

    def reply(self, status, content, headers=None, cut=False):
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
