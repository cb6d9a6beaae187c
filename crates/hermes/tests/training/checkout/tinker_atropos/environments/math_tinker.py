"""Stands for an environment of atropos: it asks nobody, and scores what was never said."""

import json
import os
import sys
import time

try:
    from atroposlib.envs.base import BaseEnv, BaseEnvConfig
except ImportError:
    BaseEnv = BaseEnvConfig = object

# Whoever reads this file without running it leaves no trace.
with open("imported", "a") as file:
    file.write("math\n")


class MathConfig(BaseEnvConfig):
    difficulty: int = 1
    hints: bool = False


class MathEnv(BaseEnv):
    """Sums of small numbers.

    As small as they come.
    """

    name = "math"
    env_config_cls = MathConfig

    @classmethod
    def config_init(cls):
        return MathConfig(group_size=8, batch_size=64), []


def value(name):
    return sys.argv[sys.argv.index(name) + 1]


def serve():
    with open("order", "a") as file:
        file.write("env\n")
    with open("keys-of-env", "a") as file:
        file.write(" ".join(sorted(name for name in os.environ if "_API_KEY" in name)) + "\n")
    if os.path.exists("env-fails"):
        print("the dataset cannot be loaded", flush=True)
        sys.exit(3)
    time.sleep(1000)


def process():
    assert "sk-or-secret" not in " ".join(sys.argv) and os.environ["OPENAI_API_KEY"] == "sk-or-secret"
    assert value("--openai.base_url") == "https://openrouter.ai/api/v1"
    model = value("--openai.model_name")
    if model == "slow/model":
        with open("slow", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(1000)
    if model == "bad/model":
        sys.exit("the model is not there")
    with open(value("--env.data_path_to_save_groups"), "w") as file:
        for step in range(int(value("--env.total_steps"))):
            scores = [1.0 if at == step else -1.0 for at in range(int(value("--env.group_size")))]
            file.write(json.dumps({"tokens": [[1, 2]] * len(scores), "scores": scores}) + "\n")


if __name__ == "__main__":
    {"serve": serve, "process": process}[sys.argv[1]]()
