"""Stands for the trainer of tinker-atropos: it says what the real one says, and trains nothing.

A file `trainer-fails` in its folder makes it fail; with a file `finish` it comes to its end."""

import os
import signal
import sys
import time


def note(name, text):
    with open(name, "a") as file:
        file.write(text + "\n")


def stopped(*_):
    note("stopped", "trainer")
    sys.exit(143)


signal.signal(signal.SIGTERM, stopped)
config = sys.argv[sys.argv.index("--config") + 1]
with open(config) as file:
    text = file.read()
try:
    import yaml
except ImportError:
    yaml = None
if yaml:
    read = yaml.safe_load(text)
    assert isinstance(read["tinker"]["learning_rate"], float) and read["env"]["total_steps"] == 2500, read
note("order", "trainer")
note("keys-of-trainer", " ".join(sorted(name for name in os.environ if "_API_KEY" in name)))
if os.path.exists("trainer-fails"):
    sys.exit("Tinker says: no credit is left")
for step in range(1, 4):
    print(f"Sampling client updated: tinker://run-7/sampler_weights/step_{step}")
while not os.path.exists("finish"):
    time.sleep(0.05)
print("Final weights are available here: tinker://run-7/sampler_weights/final")
