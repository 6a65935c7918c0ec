"""Reads the JSON lines of the tool with an independent parser.

    jsonlines.py FILE EVENT [FILTER=VALUE...] FIELD   prints FIELD (a.b.c) of the
                                        last object of that event
    jsonlines.py --check FILE                every line is one object, no NaN
"""

import json
import sys


def refuse(name):
    raise ValueError(name + " is no number of JSON")


def objects(path):
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            if not line.endswith("\n"):
                sys.exit(f"{path}:{n}: a line without its end: {line!r}")
            try:
                one = json.loads(line, parse_constant=refuse)
            except ValueError as e:
                sys.exit(f"{path}:{n}: {e}: {line!r}")
            if not isinstance(one, dict) or "event" not in one:
                sys.exit(f"{path}:{n}: no object with an event")
            yield one


def get(one, field):
    for name in field.split("."):
        one = one[int(name)] if isinstance(one, list) else one[name]
    return one


def main():
    if sys.argv[1] == "--check":
        events = [one["event"] for one in objects(sys.argv[2])]
        print(len(events))
        sys.exit(0 if events else "no event at all")
    path, event, *filters, field = sys.argv[1:]
    found = None
    for one in objects(path):
        wanted = [f.split("=", 1) for f in filters]
        if one["event"] == event and all(
            str(get(one, k)).lower() == v.lower() for k, v in wanted
        ):
            found = one
    if found is None:
        sys.exit(f"no event {event} {filters} in {path}")
    value = get(found, field)
    print(value if not isinstance(value, float) else repr(value))


main()
