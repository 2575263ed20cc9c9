"""Runs rule programs in real CLIPS: one JSON array of constructs per line in, one JSON object per line out."""
import json
import sys

import clips

for line in sys.stdin:
    environment = clips.Environment()
    try:
        for construct in json.loads(line):
            environment.build(construct)
        environment.reset()
        fired = environment.run(5000)
        facts = sorted(str(fact) for fact in environment.facts())
        answer = {"fired": fired, "facts": facts}
    except clips.CLIPSError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
