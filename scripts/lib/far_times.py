"""Reads what a call costs in places that are not this machine: prints one JSON object, name to [value, unit].

The tests of the environments say it, one line for each place, measured in turns with the bare client.
"""

import json
import pathlib
import re
import sys

LINE = re.compile(r"cost of (\w+): first ([\d.]+) ms, then ([\d.]+) ms, bare ([\d.]+) ms, ratio ([\d.]+)")
PLACES = ("ssh", "docker", "podman", "apptainer")


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace")
    said = {found[1]: [float(number) for number in found.groups()[1:]] for found in LINE.finditer(text)}
    numbers = {}
    for place in PLACES:
        if place not in said:
            print(f"{place}_call_ratio not measured: it is not here (see scripts/testbeds/{place})", file=sys.stderr)
            continue
        first, ours, _, ratio = said[place]
        numbers[f"{place}_call_ratio"] = [ratio, "×"]
        numbers[f"{place}_call_ms"] = [ours, "ms"]
        numbers[f"{place}_first_ms"] = [first, "ms"]
    print(json.dumps(numbers, ensure_ascii=False))


if __name__ == "__main__":
    main()
