"""Lets a language model play any game: `model.toml` says which one, at any service with the interface of OpenAI.

It needs only the standard library. It keeps to its own clock, tries again what failed, tells tokens and cost, and says
so if the service failed.
"""

import json
import os
import re
import threading
import time
import tomllib
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from warpline.client import Failed, Reply, run

MAX_BYTES = 1 << 20  # of a reply
NO_USE = (400, 401, 403, 404)  # what the service will answer again, however often it is asked
USELESS = "That names no action: end with ANSWER: and a number below"


class NoRedirects(HTTPRedirectHandler):
    """The key must not go to another place than the one that was named."""

    def redirect_request(self, *_):
        return None


class ServiceError(Exception):
    """The service gave no reply; `final` if it never will."""

    def __init__(self, text, final=False, pause_s=0.0):
        super().__init__(text)
        self.final = final
        self.pause_s = pause_s


class Service:
    """The model: `reply` puts messages to it, and counts what that took."""

    def __init__(self, config, key):
        self.config = config
        self.opener = build_opener(ProxyHandler({}), NoRedirects())
        self.url = config["url"].rstrip("/") + "/chat/completions"
        self.headers = {"Content-Type": "application/json"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"

    def reply(self, messages, timeout_s):
        """The text of the reply, and the tokens in and out; `ServiceError` if there is none in time."""
        body = {"model": self.config["model"], "messages": messages, **self.config.get("options", {})}
        request = Request(self.url, json.dumps(body).encode(), self.headers)
        found = []

        def ask():
            try:
                with self.opener.open(request, timeout=timeout_s) as response:
                    found.append(json.loads(response.read(MAX_BYTES)))
            except Exception as error:  # noqa: BLE001 - whatever it is, the service gave no reply
                found.append(error)

        # A thread, since a service that drips byte by byte would never time out.
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(timeout_s)
        if not found or isinstance(getattr(found[0], "reason", found[0]), TimeoutError):
            raise ServiceError(f"no reply within {timeout_s:.1f} s")
        if isinstance(found[0], HTTPError):
            raise refused(found[0])
        if isinstance(found[0], Exception):
            # Only the system's own words: another error may quote the key.
            words = f": {found[0]}" if isinstance(found[0], OSError) else ""
            raise ServiceError(f"{type(found[0]).__name__}{words}")
        try:
            text = found[0]["choices"][0]["message"]["content"] or ""
            used = found[0].get("usage") or {}
            return str(text), tokens(used, "prompt_tokens"), tokens(used, "completion_tokens")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ServiceError("a reply without choices[0].message.content") from None


def tokens(used, name):
    """A number of tokens that the service told; 0 if it is none."""
    count = used.get(name)
    return count if isinstance(count, int) and 0 <= count < 1 << 50 else 0


def refused(error):
    """The same error without what the service wrote, which may quote the request."""
    pause = error.headers.get("Retry-After", "")
    return ServiceError(
        f"HTTP {error.code} {error.reason}", error.code in NO_USE, float(pause) if pause.isdigit() else 0.0
    )


class Player:
    """Puts each question to the model, as often as it may and the clock allows."""

    def __init__(self, config, key):
        self.service = Service(config, key)
        self.limits = config["limits"]
        self.price = config.get("price", {})
        self.system = config["prompt"]["system"].strip()

    def choose(self, question):
        """The action that the model names; else what went wrong."""
        limits, wrong, text = self.limits, None, ""
        time_s = question.time_s
        deadline = time.monotonic() + (
            1e6 if time_s is None else max(time_s - limits["margin_s"], time_s / 2)
        )
        messages = [
            {"role": "system", "content": self.system},
            {"role": "user", "content": question.text},
        ]
        usage = {"input_tokens": 0, "output_tokens": 0, "cost": 0.0}
        pause_s = limits["pause_s"]
        for attempt in range(limits["attempts"]):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                break
            try:
                text, read, written = self.service.reply(messages, min(left_s, limits["request_s"]))
            except ServiceError as error:
                wrong = error
                pause_s = max(pause_s, error.pause_s)
                if error.final or attempt + 1 == limits["attempts"] or time.monotonic() + pause_s >= deadline:
                    break
                time.sleep(pause_s)
                pause_s *= 2
                continue
            wrong = None
            usage["input_tokens"] += read
            usage["output_tokens"] += written
            index = answered(text, len(question.legal))
            if index is not None:
                return Reply(index, note=text, usage=self.charged(usage))
            messages[2:] = [
                {"role": "assistant", "content": text},
                {
                    "role": "user",
                    "content": f"That names no action: end with ANSWER: and a number below {len(question.legal)}.",
                },
            ]
        if wrong is not None or not text:
            return Failed(f"the model did not answer: {wrong or 'the time is up'}", usage=self.charged(usage))
        return Reply(
            0, note=f"no action was named, so the first is played: {text}", usage=self.charged(usage)
        )

    def charged(self, usage):
        """The usage with its cost."""
        cost = usage["input_tokens"] * self.price.get("input", 0) + usage["output_tokens"] * self.price.get(
            "output", 0
        )
        return {**usage, "cost": cost / 1e6}


def answered(text, count):
    """The number of the action at the end of a reply; None if there is none, or no such action."""
    found = re.findall(r"ANSWER:\W*(\d{1,9})", text, re.IGNORECASE) or re.findall(r"\b\d{1,9}\b", text)
    return int(found[-1]) if found and int(found[-1]) < count else None


def read_key():
    """The key of the service, from the file that the league names; empty without one."""
    path = os.environ.get("WARPLEAGUE_KEY_FILE")
    return Path(path).read_text(encoding="utf-8").strip() if path else ""


if __name__ == "__main__":
    player = Player(tomllib.loads(Path("model.toml").read_text(encoding="utf-8")), read_key())
    run(player.choose, wants=("text", "legal"))
