"""Compares the tables of docs/ with the schemas: keys, types and null. A table is identified by its heading
and by words of the line before it."""

import os
import re

from damage import branches

# document, heading, words of the line before the table, schema, path in it.
TABLES = [
    ("formats.md", "Output of `skidscan report`", "Terms are defined", "report", ""),
    ("formats.md", "Output of `skidscan report`", "Each measurement:", "report", "measurements.*"),
    ("formats.md", "Output of `skidscan report`", "Its keys:", "report", "measurements.*.basis"),
    ("formats.md", "Output of `skidscan report`", "level, period, trigger, geometry", "report",
     "repeats.*"),
    ("formats.md", "Output of `skidscan audit`", "Schema `skidscan.audit/1`", "audit",
     "recordings.*"),
    ("formats.md", "Output of `skidscan audit`", "Each of `events`:", "audit",
     "recordings.*.events.*"),
    ("formats.md", "Output of `skidscan audit`", "`branch_records`:", "audit",
     "recordings.*.events.*.branch_records"),
    ("formats.md", "Output of `skidscan correct`", "Schema `skidscan.correct/1`", "correct",
     "recordings.*"),
    ("formats.md", "Output of `skidscan correct`", "Each of `events`:", "correct",
     "recordings.*.events.*"),
    ("formats.md", "Output of `skidscan correct`", "Each of `places`:", "correct",
     "recordings.*.events.*.places.*"),
    ("formats.md", "Output of `skidscan compare`", "Schema `skidscan.compare/1`", "compare", ""),
    ("formats.md", "Output of `skidscan compare`", "Each of `rows`:", "compare", "rows.*"),
    ("formats.md", "Output of `skidscan compare`", "Each of `cells`:", "compare", "rows.*.cells.*"),
    ("formats.md", "Output of `skidscan annotate`", "defines what is counted", "annotate", ""),
    ("formats.md", "Output of `skidscan annotate`", "as in `report`'s measurements", "annotate",
     "columns.*"),
    ("formats.md", "Output of `skidscan annotate`", "Each of `codes`:", "annotate", "codes.*"),
    ("formats.md", "Output of `skidscan annotate`", "Each of `rows`:", "annotate", "codes.*.rows.*"),
    ("formats.md", "Output of `skidscan annotate`", "Each of `places`:", "annotate", "places.*"),
    ("formats.md", "Output of `skidscan samples`", "where the columns marked", "samples", ""),
    ("formats.md", "Output of `skidscan inspect`", "in the order of the arguments", "inspect",
     "recordings.*"),
    ("formats.md", "Output of `skidscan inspect`", "Each event:", "inspect", "recordings.*.events.*"),
    ("formats.md", "Output of `skidscan inspect`", "sections that are not decoded", "inspect",
     "recordings.*.features"),
    ("formats.md", "Output of `skidscan rates`", "Schema `skidscan.rates/1`", "rates", ""),
    ("formats.md", "Output of `skidscan rates`", "Each event:", "rates", "events.*"),
    ("formats.md", "Output of `skidscan rates`", "Each rate:", "rates", "loads.*"),
    ("formats.md", "Output of `skidscan doctor`", "Schema `skidscan.doctor/1`", "doctor", ""),
    ("formats.md", "Output of `skidscan doctor`", "Each PMU:", "doctor", "pmus.*"),
    ("formats.md", "Output of `skidscan doctor`", "Each event:", "doctor", "events.*"),
    ("formats.md", "Output of `skidscan events --format json`", "Schema `skidscan.events/1`",
     "events", ""),
    ("formats.md", "Output of `skidscan events --format json`", "Each event:", "events", "events.*"),
    ("run.md", "run.json, schema `skidscan.run/1`", "is not known is `null`", "run", ""),
    ("run.md", "run.json, schema `skidscan.run/1`", "Each measurement:", "run", "measurements.*"),
    ("synth.md", "The model: `skidscan.model/1`", "A key that is not in these tables", "model", ""),
    ("synth.md", "The model: `skidscan.model/1`", "Each of `events`:", "model", "events.*"),
    ("synth.md", "The model: `skidscan.model/1`", "Each of `levels`:", "model", "events.*.levels.*"),
    ("synth.md", "The model: `skidscan.model/1`", "so that records of several CPUs", "model",
     "buffers"),
    ("synth.md", "The truth: `skidscan.truth/1`", "the loop and not by their addresses", "truth", ""),
    ("synth.md", "The truth: `skidscan.truth/1`", "in the order of the recording's events", "truth",
     "recordings.*.measurements.*"),
]

# Keys in the sentence before a table.
IN_SENTENCES = {
    ("audit", ""): {"schema", "tool_version", "unread", "recordings"},
    ("correct", "recordings.*.events.*.decided_by"): {"address", "branch_records"},
    ("report", "measurements.*.skid.instructions"): {
        "min", "p50", "p90", "p99", "max", "mean", "stddev", "mode", "mode_share", "at_least"},
    ("rates", "core_types.*"): {"pmu", "running_percent", "general", "loads", "lines", "identities", "l2_requests",
                                "backend"},
    ("annotate", "columns.*"): {"run", "file", "repeat", "synthetic", "read_in_part", "cpu",
                                "kernel", "event"},
}

TYPES = {"string": "string", "strings": "array", "integer": "integer", "integers": "array",
         "number": "number", "boolean": "boolean", "object": "object", "share": "object",
         "distance": "object", "array": "array", "null": "null"}


def plain(text):
    return text.replace("`", "").strip()


def tables_of(path):
    """(heading, line before it, rows of cells) of each table."""
    heading, before, rows, found = "", "", [], []
    with open(path, encoding="utf-8") as file:
        for line in list(file) + ["\n"]:
            line = line.rstrip("\n")
            if line.startswith("|"):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
                continue
            if rows:
                found.append((heading, before, rows[2:]))
                rows = []
            if re.match("#+ ", line):
                title = line.lstrip("#").strip()
                if line.startswith("# ") or title.startswith(("run.json", "The ")):
                    heading = title
            if line.strip():
                before = line
    return found


def keys_of(cell):
    """Paths in a cell: `a.b`, `.c` means a.b and a.c; `a[]` means a."""
    paths = []
    for name in re.findall("`([^`]*)`", cell):
        path = name.replace("[]", "").split(".")
        if path[0] == "" and paths:
            path = paths[-1][:-1] + path[1:]
        paths.append(path)
    return paths


def types_of(cell):
    """JSON types in the second cell of a row; None without any."""
    types = set()
    for word in re.split(r",| or ", plain(cell)):
        word = re.sub(r"^arrays? of .*", "array", word.strip())
        if word == "objects":
            types |= {"object", "array"}
        elif word in TYPES:
            types.add(TYPES[word])
        elif word:
            return None
    return types or None


def at(root, path):
    """The forms of a schema at `a.*.b`."""
    forms = branches(root, root)
    for step in [step for step in path.split(".") if step]:
        found = []
        for form in forms:
            if step == "*" and isinstance(form.get("items"), dict):
                found += branches(root, form["items"])
            elif step in form.get("properties", {}):
                found += branches(root, form["properties"][step])
        forms = found
    return forms


def schema_types(forms):
    types = set()
    for form in forms:
        named = form.get("type", [])
        types |= {named} if isinstance(named, str) else set(named)
        for value in form.get("enum", []) + ([form["const"]] if "const" in form else []):
            types.add("null" if value is None else "boolean" if isinstance(value, bool)
                      else "string" if isinstance(value, str) else "number")
    return types


def matches(documented, actual):
    numbers = {"integer", "number"}
    return bool(actual & documented) or bool(actual & numbers and documented & numbers)


class Check:
    def __init__(self, documents, schemas):
        self.documents = documents
        self.schemas = schemas
        self.wrong = []
        self.keys = 0

    def run(self):
        for name, heading, before, schema, where in TABLES:
            found = [rows for title, line, rows in tables_of(os.path.join(self.documents, name))
                     if title == heading and before in line]
            if len(found) != 1:
                self.wrong.append(f"{name}: {len(found)} tables under '{heading}' after '{before}'")
            else:
                self.table(f"{name}, {heading}, {where or 'top'}", found[0], schema, where)
        return self.wrong

    def table(self, title, rows, schema, where):
        root = self.schemas[schema]
        documented = {}  # path of an object: its documented keys
        in_sentences = IN_SENTENCES.get((schema, where), set())
        documented[where] = set(in_sentences)
        for row in rows:
            types = types_of(row[1]) if len(row) > 2 and schema != "model" else None
            nullable = False
            paths = keys_of(row[0])
            for path in paths:
                self.keys += 1
                parent = ".".join(([where] if where else []) + path[:-1])
                for depth in range(len(path)):
                    above = ".".join(([where] if where else []) + path[:depth])
                    documented.setdefault(above, set()).add(path[depth])
                forms = at(root, ".".join(filter(None, [parent, path[-1]])))
                if not forms:
                    self.wrong.append(f"{title}: {'.'.join(path)} is not in the schema")
                    continue
                actual = schema_types(forms)
                nullable = nullable or "null" in actual
                if types is None or not actual:
                    continue
                if not matches(types, actual):
                    self.wrong.append(f"{title}: {'.'.join(path)} is {sorted(types)}, in the schema "
                                      f"{sorted(actual)}")
                if "null" in actual - types:
                    self.wrong.append(f"{title}: {'.'.join(path)} may be null in the schema only")
            if types is not None and "null" in types and not nullable:
                self.wrong.append(f"{title}: {row[0]} may not be null in the schema")
        for path, keys in documented.items():
            keys = keys | IN_SENTENCES.get((schema, path), set())
            properties = set()
            for form in at(root, path):
                properties |= set(form.get("properties", {}))
            for key in sorted(properties - keys):
                self.wrong.append(f"{title}: {'.'.join(filter(None, [path, key]))} is only in "
                                  "the schema")
