"""The same rules over the same facts in CLIPS. One request a line: FACTS TIMES; one answer a line: {"samples": [nanoseconds]}."""

import json
import sys
import time

import clips

RULES = [
    "(defrule paid (order ?id ?amount) (payment ?id ?paid&:(>= ?paid ?amount)) => (assert (settled ?id)))",
    "(defrule open (order ?id ?) (not (payment ?id ?)) => (assert (open ?id)))",
]


def facts(count):
    lines = []
    for number in range(count // 2):
        lines.append(f"(order {number} {number % 7})")
        lines.append(f"(payment {number * 2} 5)")
    return "\n".join(lines)


def main():
    environment = clips.Environment()
    for rule in RULES:
        environment.build(rule)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        count, times = map(int, line.split())
        text = facts(count)
        samples = []
        for _ in range(times):
            environment.reset()
            began = time.perf_counter_ns()
            environment.load_facts(text)
            fired = environment.run()
            samples.append(time.perf_counter_ns() - began)
            if fired == 0:
                raise SystemExit("no rule fired")
        print(json.dumps({"samples": samples}), flush=True)


main()
