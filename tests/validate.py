#!/usr/bin/python3
"""validate.py SCHEMA FILE...: exits with 1 if a file does not follow it, or
a line of a file X.jsonl."""
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failed = False
for path in sys.argv[2:]:
    lines = path.endswith(".jsonl")
    for document in open(path) if lines else [open(path).read()]:
        for error in validator.iter_errors(json.loads(document)):
            print(f"{path}: {error.message} at {list(error.absolute_path)}")
            failed = True
sys.exit(failed)
