"""What a user would write instead: FastAPI that does the seed's simulated steps in memory. No sandbox, nothing is durable."""

import socket
import time
import uuid
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()
history: dict[str, dict] = {}


class Execute(BaseModel):
    council_id: str
    chain_id: str
    input: dict[str, Any]


def simulate(order: int, payload: dict[str, Any]) -> dict[str, Any]:
    """A step as the seed simulates it: the input comes back as the output."""
    return {"order": order, "action": "act", "status": "completed", "output": {"text": payload["text"]}}


@app.post("/v1/chains/execute")
async def execute(request: Execute) -> dict[str, Any]:
    began = time.time()
    if "text" not in request.input:
        return {"status": "vetoed"}
    steps, payload = [], request.input
    for order in range(3):
        step = simulate(order, payload)
        payload = step["output"]
        steps.append(step)
    status = "completed" if len(payload["text"]) > 0 else "vetoed"
    result = {
        "execution_id": str(uuid.uuid4()),
        "council_id": request.council_id,
        "chain_id": request.chain_id,
        "status": status,
        "steps": steps,
        "duration_ms": int((time.time() - began) * 1000),
    }
    history[result["execution_id"]] = result
    return result


def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    address, port = listener.getsockname()
    print(f"listening on http://{address}:{port}", flush=True)
    # One worker with uvloop and httptools: the usual production setting on a core of one's own.
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    server.run(sockets=[listener])


main()
