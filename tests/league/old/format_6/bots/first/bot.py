"""Takes the first legal action."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"wants":[]}', flush=True)
    elif message["type"] == "start":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        print(json.dumps({"type": "act", "id": message["id"], "action": 0}), flush=True)
    elif message["type"] == "quit":
        break
