#!/usr/bin/env python3
"""Checks that every JSON output of skidscan matches its schema in docs/schemas, that the schemas refuse
damaged outputs, and that the tables of docs/ match the schemas.
usage: check.py SKIDSCAN SOURCE RECORDINGS
"""

import copy
import json
import os
import sys
import tempfile

import jsonschema

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from damage import LONGEST, Damage, optional_keys  # noqa: E402
from outputs import Outputs  # noqa: E402
from tables import Check  # noqa: E402

# Wrong values of the right type.
WRONG_VALUES = [
    ("report", "measurements.0.contract.verdict", "good"),
    ("report", "measurements.0.contract.promise", "skid 0"),
    ("report", "measurements.0.basis.judgeable", "maybe"),
    ("report", "measurements.0.samples.read", -1),
    ("report", "measurements.0.hit_ratio.value", 1.5),
    ("report", "measurements.0.hit_ratio.value", None),
    ("report", "measurements.0.event.config", "17"),
    ("report", "measurements.0.precise.recorded", 4),
    ("report", "schema", "skidscan.report/2"),
    ("compare", "rows.0.cells.0.outcome", "the same"),
    ("audit", "recordings.0.events.0.rule", "guess"),
    ("correct", "recordings.0.events.0.verdict", "moved"),
    ("correct", "recordings.0.events.0.skid.instructions", 5),
    ("doctor", "exit_status", 2),
    ("inspect", "recordings.0.mode", "tape"),
    ("events", "events.0.causes.0.verdict", "often"),
    ("rates", "events.0.state", "guessed"),
    ("run", "measurements.0.state", "lost"),
    ("run", "measurements.0.file", "/etc/passwd"),
    ("truth", "synthetic", False),
    ("model", "events.0.levels.0.offsets.kind", "cauchy"),
    ("model", "events.0.period", 0),
    ("target", "specification.arch", "riscv64"),
]


def schemas_in(directory):
    schemas = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".schema.json"):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                schemas[name[:-len(".schema.json")]] = json.load(file)
    return schemas


def put(document, path, value):
    *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in above:
        document = document[step]
    document[last] = value


def refusals(schema, validator, documents, root):
    damage = Damage(schema, validator, optional_keys(root))
    for text in sorted((json.dumps(document) for document in documents), key=len):
        if len(text) > LONGEST:
            break
        damage.of(json.loads(text))
    for name, path, value in WRONG_VALUES:
        if name != schema:
            continue
        for document in documents:
            changed = copy.deepcopy(document)
            try:
                put(changed, path, value)
            except (IndexError, KeyError):
                continue
            damage.expect_refusal(changed, f"{value!r} as {path}")
            break
        else:
            damage.accepted.append(f"{schema}: no output has {path}")
    return damage


def main():
    skidscan, source, recordings = (os.path.abspath(argument) for argument in sys.argv[1:4])
    schemas = schemas_in(os.path.join(source, "docs", "schemas"))
    wrong = []
    validators = {}
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[name] = jsonschema.Draft202012Validator(schema)
    with tempfile.TemporaryDirectory() as directory:
        outputs = Outputs(skidscan, source, directory)
        outputs.make(recordings)
    for name, made_by, document in outputs.documents:
        error = jsonschema.exceptions.best_match(validators[name].iter_errors(document))
        if error is not None:
            where = ".".join(str(step) for step in error.absolute_path)
            wrong.append(f"{name}: {made_by}: {where}: {error.message[:300]}")
    for name, schema in schemas.items():
        documents = [document for kind, _, document in outputs.documents if kind == name]
        if not documents:
            wrong.append(f"{name}: no output was validated")
            continue
        damage = refusals(name, validators[name], documents, schema)
        wrong += damage.accepted
        print(f"{name}: {len(documents)} valid, {damage.tried} damaged refused")
    tables = Check(os.path.join(source, "docs"), schemas)
    wrong += tables.run()
    print(f"{tables.keys} documented keys")
    for reason in outputs.left_out:
        print(f"left out: {reason}")
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
