#!/usr/bin/env python3
"""pick.py PATH...: values of JSON on standard input, such as "events.2.name", "rows.#" (the number of
rows), "loads.[name=L1 miss].low" (of the element with that name)."""
import json
import sys

document = json.load(sys.stdin)
for path in sys.argv[1:]:
    value = document
    for key in path.split("."):
        if key.startswith("["):
            name, wanted = key[1:-1].split("=")
            value = next(each for each in value if each[name] == wanted)
        elif key == "#":
            value = len(value)
        else:
            value = value[int(key) if isinstance(value, list) else key]
    print(path, "=", json.dumps(value))
