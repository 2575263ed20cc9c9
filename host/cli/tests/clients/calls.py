"""Plays story.json with the client that openapi-python-client generated.

Every answer must be what the generated classes read: an answer is parsed, written again and compared with what was received, so that
a member that the OpenAPI document does not have is found.

    calls.py URL OPENAPI STORY PACKAGE     (with the generated package `client` in the working folder)
"""

import datetime
import enum
import importlib
import inspect
import io
import json
import pkgutil
import re
import sys
import typing
import uuid

import client as generated
import client.api
import client.models
from client.types import UNSET, File

url, document, story, package = sys.argv[1:]
with open(document) as file:
    document = json.load(file)
with open(story) as file:
    story = json.load(file)

OPERATIONS = {
    operation["operationId"]: operation
    for item in document["paths"].values()
    for operation in item.values()
}


def snake(name):
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())


MODULES = {}
for tag in pkgutil.iter_modules(client.api.__path__):
    folder = importlib.import_module(f"client.api.{tag.name}")
    for module in pkgutil.iter_modules(folder.__path__):
        MODULES[module.name] = importlib.import_module(f"client.api.{tag.name}.{module.name}")

missing = sorted(set(OPERATIONS) - {step["operation"] for step in story})
if missing:
    sys.exit(f"{', '.join(missing)}: no call; add a row to host/cli/tests/clients/story.json")
ungenerated = sorted(name for name in OPERATIONS if snake(name) not in MODULES)
if ungenerated:
    sys.exit(f"{', '.join(ungenerated)}: openapi-python-client generated no function")

variables = {}


def filled(value):
    """Puts in what was kept; `$$` is a dollar sign."""
    if isinstance(value, str):
        if value.startswith("$$"):
            return value[1:]
        return variables[value[1:]] if value.startswith("$") else value
    if isinstance(value, list):
        return [filled(item) for item in value]
    if isinstance(value, dict):
        return {name: filled(item) for name, item in value.items()}
    return value


def choices(hint):
    return [part for part in (typing.get_args(hint) or (hint,)) if inspect.isclass(part)]


def typed(value, hint):
    """A value as the generated function takes it."""
    for kind in choices(hint):
        if kind is uuid.UUID:
            return uuid.UUID(value)
        if kind is datetime.datetime:
            return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        if issubclass(kind, enum.Enum):
            return kind(value)
        if hasattr(kind, "from_dict"):
            return kind.from_dict(value)
    return value


def plain(value):
    """Times and ids compare as what they are, however they are written."""
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def same(label, parsed, received):
    if plain(parsed.to_dict()) != plain(received):
        sys.exit(f"{label}: the schema does not have all of the answer:\n{parsed.to_dict()}\n{received}")


def pointed(value, pointer):
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def event(label, data):
    name = "".join(word.capitalize() for word in data["kind"].split("_")) + "Event"
    same(f"{label}, {data['kind']}", getattr(client.models, name).from_dict(data), data)


kinds = set()
with generated.Client(base_url=url, raise_on_unexpected_status=True, timeout=120.0) as api:
    for step in story:
        name, label = step["operation"], f"{step['operation']} ({step['status']})"
        function = MODULES[snake(name)].sync_detailed
        hints = typing.get_type_hints(function)
        arguments = {}
        for place in ("path", "query", "header"):
            for key, value in step.get(place, {}).items():
                arguments[snake(key)] = typed(filled(value), hints[snake(key)])
        if "body" in step:
            arguments["body"] = typed(filled(step["body"]), hints["body"])
        if "package" in step:
            with open(package, "rb") as file:
                arguments["body"] = File(payload=io.BytesIO(file.read()), mime_type="application/octet-stream")
        answer = function(client=api, **arguments)
        if answer.status_code != step["status"]:
            sys.exit(f"{label}: got {answer.status_code}: {answer.content[:2000]!r}")
        media = OPERATIONS[name]["responses"][str(step["status"])]
        if name == "streamExecutionEvents":
            for line in answer.content.decode().splitlines():
                if line.startswith("data: "):
                    data = json.loads(line.removeprefix("data: "))
                    kinds.add(data["kind"])
                    event(label, data)
        elif answer.headers.get("content-type") == "application/json" and name != "openApi":
            if answer.parsed is None or answer.parsed is UNSET:
                sys.exit(f"{label}: the generated client does not read this answer")
            same(label, answer.parsed, json.loads(answer.content))
        for variable, pointer in step.get("keep", {}).items():
            variables[variable] = pointed(json.loads(answer.content), pointer)

wanted = {"started", "call_ended", "decided", "cancelled"}
if not wanted <= kinds:
    sys.exit(f"no event of the kinds {wanted - kinds}")
print(f"{len(OPERATIONS)} operations called")
