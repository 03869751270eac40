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
from collections import Counter
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from warpline.client import Failed, Reply, run

MAX_BYTES = 1 << 20  # of a reply
NO_USE = (400, 401, 403, 404)  # what the service will answer again, however often it is asked
WORDS = 200  # characters of the service's reason that are told
# The number stands alone behind ANSWER: but for what marks it up, as in **3**. or action 3.
NAMED = re.compile(
    r"(?:action|number|no\.?|option)?[\s*_`'\"()\[\]{}#$]*(\d{1,9})[\s*_`'\"()\[\]{}$.!]*", re.IGNORECASE
)


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
        self.config, self.key = config, key
        self.opener = build_opener(ProxyHandler({}), NoRedirects())
        self.url = config["url"].rstrip("/") + "/chat/completions"
        self.headers = {"Content-Type": "application/json"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"

    def reply(self, messages, timeout_s):
        """The text of the reply, whether it was cut off, tokens in and out; `ServiceError` if there is none."""
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
            raise refused(found[0], [self.key, self.config["prompt"]["system"], messages[1]["content"]])
        if isinstance(found[0], Exception):
            # Only the system's own words: another error may quote the key.
            words = f": {found[0]}" if isinstance(found[0], OSError) else ""
            raise ServiceError(f"{type(found[0]).__name__}{words}")
        try:
            choice = found[0]["choices"][0]
            text = choice["message"]["content"] or ""
            if isinstance(text, list):  # in parts
                text = "".join(str(part.get("text", "")) for part in text)
            used = found[0].get("usage") or {}
            cut_off = choice.get("finish_reason") == "length"
            return str(text), cut_off, tokens(used, "prompt_tokens"), tokens(used, "completion_tokens")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ServiceError("a reply without choices[0].message.content") from None


def tokens(used, name):
    """A number of tokens that the service told; 0 if it is none."""
    count = used.get(name)
    return count if isinstance(count, int) and 0 <= count < 1 << 50 else 0


def refused(error, sent):
    """The same error with the service's reason, unless that quotes what was `sent`: the key, or the prompt."""
    pause = error.headers.get("Retry-After", "")
    reason = ""
    try:
        told = json.loads(error.read(MAX_BYTES))["error"]
        reason = " ".join(str(told["message"] if isinstance(told, dict) else told).split())
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a page for people, or nothing
    if not reason or any(text and (text in reason or reason in text) for text in sent):
        reason = str(error.reason)
    text = f"HTTP {error.code} {reason[:WORDS]}"
    return ServiceError(text, error.code in NO_USE, float(pause) if pause.isdigit() else 0.0)


class Player:
    """Puts each question to the model, as often as it may and the clock allows."""

    def __init__(self, config, key):
        self.service = Service(config, key)
        self.limits = config["limits"]
        self.price = config.get("price", {})
        self.system = config["prompt"]["system"].strip()

    def choose(self, question):
        """The action that the model names; else what went wrong, in each attempt."""
        limits, wrong, final = self.limits, [], False
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
        while len(wrong) < limits["attempts"] and not final and (left_s := deadline - time.monotonic()) > 0:
            try:
                text, cut_off, read, written = self.service.reply(messages, min(left_s, limits["request_s"]))
            except ServiceError as error:
                wrong.append(str(error))
                pause_s = max(pause_s, error.pause_s)
                final = error.final or time.monotonic() + pause_s >= deadline
                if not final and len(wrong) < limits["attempts"]:
                    time.sleep(pause_s)
                    pause_s *= 2
                continue
            usage["input_tokens"] += read
            usage["output_tokens"] += written
            index = None if cut_off else answered(text, len(question.legal))
            if index is not None:
                # What came before it belongs into the record: a model that needs many attempts is a worse one.
                before = f"[asked again: {in_short(wrong)}] " if wrong else ""
                return Reply(index, note=before + text, usage=self.charged(usage, len(wrong)))
            wrong.append("cut off by its token limit" if cut_off else "named no action")
            hint = "Your reply was cut off: be brief, and" if cut_off else "That names no action:"
            messages[2:] = [
                {"role": "assistant", "content": text or "(nothing)"},
                {
                    "role": "user",
                    "content": f"{hint} end with ANSWER: and a number below {len(question.legal)}.",
                },
            ]
        told = in_short(wrong) or "the time is up"
        return Failed(f"the model did not answer: {told}", usage=self.charged(usage, max(len(wrong) - 1, 0)))

    def charged(self, usage, retries):
        """The usage with its cost, and how often the service was asked again for it."""
        cost = usage["input_tokens"] * self.price.get("input", 0) + usage["output_tokens"] * self.price.get(
            "output", 0
        )
        return {**usage, "cost": cost / 1e6, "retries": retries}


def answered(text, count):
    """The number of the action that a reply names; None if it names none, or none of the `count` there are.

    It stands alone behind the last ANSWER:, or is the whole reply. A number of the prose is not taken for it, nor a
    part of `-1`, `1,034` or `0, because 1 loses`: those are asked again.
    """
    text = re.sub(r"<think>.*?(</think>|$)", "", text, flags=re.DOTALL)
    *before, said = re.split(r"ANSWER\s*[*_`]*[:\uff1a]", text, flags=re.IGNORECASE)
    found = NAMED.fullmatch(said.strip().partition("\n")[0] if before else said.strip())
    return int(found[1]) if found and int(found[1]) < count else None


def in_short(wrong):
    """What went wrong, each thing once with how often it did."""
    return "; ".join(what if many == 1 else f"{what} ({many} times)" for what, many in Counter(wrong).items())


def read_key():
    """The key of the service, from the file that the league names; empty without one."""
    path = os.environ.get("WARPLEAGUE_KEY_FILE")
    return Path(path).read_text(encoding="utf-8").strip() if path else ""


if __name__ == "__main__":
    player = Player(tomllib.loads(Path("model.toml").read_text(encoding="utf-8")), read_key())
    run(player.choose, wants=("text", "legal"))
