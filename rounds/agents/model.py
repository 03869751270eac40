"""An author that asks a language model to write its bot anew, at a server with OpenAI's interface for chats.

    edit = ["python3", "./agents/model.py", "http://127.0.0.1:8080/v1", "MODEL"]
    network = ["127.0.0.1:8080"]
    variables = ["OPENAI_API_KEY"]

The model gets the task, the brief of the game, the program of the bot, and what the last round says of it. It answers
with a whole program. If the check of that fails, the model gets the findings, and one more try.
"""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

TRIES = 2
WAIT_S = 300
BOT = Path("bot", "bot.py")
FENCE = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)


def ask(url, model, messages):
    """The answer of the model, whether it was cut off, and the tokens that it took in and gave out."""
    request = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps({"model": model, "messages": messages}).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            data = json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{url}: HTTP {error.code}: {error.read(2000).decode(errors='replace')}")
    usage = data.get("usage") or {}
    tokens = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    choice = data["choices"][0]
    return choice["message"]["content"] or "", choice.get("finish_reason") == "length", tokens


def last_round():
    """What the last round says of the bot, as text."""
    rounds = sorted(Path("rounds").iterdir())
    names = ("own.json", "check.json") if rounds else ()
    return "\n\n".join(f"{name}:\n{(rounds[-1] / name).read_text()}" for name in names)


def check():
    """Whether the bot passes the quick check, and what that prints."""
    task = Path("TASK.md").read_text(encoding="utf-8")
    words = re.search(r"^\./warpleague (bot check .*)$", task, re.MULTILINE)[1].split()
    done = subprocess.run(["./warpleague", *words], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def main(url, model):
    """Ask, write the program, check it."""
    texts = [Path("TASK.md").read_text(), Path("docs", "brief.md").read_text(), last_round()]
    texts += [f"The program of your bot, bot/bot.py:\n```python\n{BOT.read_text()}```"]
    texts += ["Answer with the whole new program in one block of code that begins with ```python."]
    messages = [{"role": "user", "content": "\n\n".join(texts)}]
    total = [0, 0]
    for _ in range(TRIES):
        text, cut_off, tokens = ask(url, model, messages)
        total = [one + more for one, more in zip(total, tokens, strict=True)]
        usage = {"input_tokens": total[0], "output_tokens": total[1]}
        Path("usage.json").write_text(json.dumps(usage))
        print(text)
        program = None if cut_off else FENCE.search(text)
        if cut_off:
            ready, found = False, "Your answer was cut off by its token limit: be brief."
        elif program is None:
            ready, found = False, "There is no block of code in your answer."
        else:
            BOT.write_text(program[1], encoding="utf-8")
            ready, found = check()
        print(found)
        if ready:
            break
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": found}]


if __name__ == "__main__":
    main(*sys.argv[1:])
