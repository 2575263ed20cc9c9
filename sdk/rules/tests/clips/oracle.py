"""Runs rule programs in real CLIPS, one after another: a JSON array of constructs per line in, a JSON object per line out.

Every firing is listed, in order, as its rule and its facts; CLIPS is asked which activation is next before each of them. A few
programs have a process of their own: CLIPS 6.4.2 crashes on some, and then the one it was about has no answer.
"""
import json
import os
import sys

import clips

# A program that goes on for ever is cut off; what it did until then is compared.
MOST_FIRINGS = 60
# Programs that one process runs.
BATCH = 20


def fire(environment):
    fired = []
    while len(fired) < MOST_FIRINGS:
        activation = next(iter(environment.activations()), None)
        if activation is None:
            return fired, True
        _, name, *facts = str(activation).replace(":", " ").replace(",", " ").split()
        fired.append(" ".join([name] + [fact for fact in facts if fact != "*"]))
        environment.run(1)
    return fired, False


def answer(constructs):
    environment = clips.Environment()
    try:
        for construct in constructs:
            environment.build(construct)
        environment.reset()
        fired, settled = fire(environment)
    except clips.CLIPSError as error:
        return {"error": str(error)}
    facts = [f"f-{fact.index} {fact}" for fact in environment.facts()]
    return {"fired": fired, "settled": settled, "facts": facts}


def child(programs, pipe):
    for program in programs:
        pipe.write(json.dumps(answer(json.loads(program))) + "\n")
        pipe.flush()


programs = sys.stdin.read().splitlines()
while programs:
    receive, send = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receive)
        with os.fdopen(send, "w") as pipe:
            child(programs[:BATCH], pipe)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        answers = [line for line in pipe.read().split("\n") if line.endswith("}")]
    os.waitpid(process, 0)
    if len(answers) < len(programs[:BATCH]):
        answers.append(json.dumps({"crash": True}))
    print("\n".join(answers), flush=True)
    programs = programs[len(answers):]
