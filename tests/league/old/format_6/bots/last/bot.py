"""Takes the last legal action, and says what it used."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"wants":["legal"]}', flush=True)
    elif message["type"] == "start":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        print(json.dumps({"type": "act", "id": message["id"], "action": len(message["legal"]) - 1, "usage": {"input_tokens": 3, "cost": 0.001}}), flush=True)
    elif message["type"] == "quit":
        break
