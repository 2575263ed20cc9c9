"""The seed's tables as pydantic v2 models, for timing: reads a document from standard input and prints how many nanoseconds the
median validation and the median canonical dump take. `cargo bench -p mizzen-model` runs this when pydantic is installed."""

import json
import re
import statistics
import sys
import time
from datetime import timedelta
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Goto(Record):
    kind: Literal["goto"] = "goto"
    target: str


class Halt(Record):
    kind: Literal["halt"] = "halt"
    reason: str = ""


class Parallel(Record):
    kind: Literal["parallel"] = "parallel"
    targets: list[str]
    join: str = ""
    strategy: str = "all"


class Retry(Record):
    kind: Literal["retry"] = "retry"
    target: str
    backoff_ms: int = 0


class Assert(Record):
    kind: Literal["assert"] = "assert"
    fact: str
    slots: str = ""


class Retract(Record):
    kind: Literal["retract"] = "retract"
    pattern: str


class Interrupt(Record):
    kind: Literal["interrupt"] = "interrupt"
    prompt: str
    interrupt_payload: dict[str, Any] = {}
    requested_capability: Optional[str] = None
    timeout: Optional[timedelta] = None
    on_timeout: Union[Literal["halt"], str] = "halt"


Action = Annotated[
    Union[Goto, Halt, Parallel, Retry, Assert, Retract, Interrupt], Field(discriminator="kind")
]


class Named(Record):
    id: str
    version: Optional[str] = None


class Store(Record):
    name: str
    provider: str


class Requires(Record):
    stargraph_facts_version: Optional[str] = None
    api_version: Optional[str] = None


class Mount(Named):
    requires: Optional[Requires] = None


class Node(Record):
    id: str
    kind: str


class Rule(Record):
    id: str
    when: str = ""
    then: list[Action] = []


class Block(Record):
    targets: list[str]
    join: str = ""
    strategy: str = "all"


class Migration(Record):
    from_hash: str
    to_hash: str


class Document(Record):
    ir_version: str
    id: str
    nodes: list[Node]
    rules: list[Rule] = []
    tools: list[Named] = []
    skills: list[Named] = []
    stores: list[Store] = []
    state_schema: dict[str, str] = {}
    state_class: Optional[str] = None
    parallel: list[Block] = []
    governance: list[Mount] = []
    migrate: list[Migration] = []


SLUG = re.compile(r"^[a-z0-9][a-z0-9_\-.]{0,127}$")


def validate(text: str) -> list[str]:
    """JSON, structure, ids, version: the first stage with errors answers."""
    try:
        document = Document.model_validate(json.loads(text))
    except (json.JSONDecodeError, ValidationError) as error:
        return [str(error)]
    sections = (document.nodes, document.rules, document.governance)
    wrong = [item.id for section in sections for item in section if not SLUG.match(item.id)]
    if wrong:
        return wrong
    return [] if document.ir_version.split(".")[0] == "1" else [document.ir_version]


def canonical(document: Document) -> str:
    data = document.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def median(work) -> int:
    times = []
    for _ in range(300):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
    return int(statistics.median(times))


text = sys.stdin.read()
assert validate(text) == []
document = Document.model_validate_json(text)
print(median(lambda: validate(text)), median(lambda: canonical(document)))
