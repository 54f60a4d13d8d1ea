"""Renders the official prompt of a task, and copies its starter files into a folder of its official name.

Both come from the package mlrb-agent-tasks. Its get_task changes the working directory and pins an old
Jinja2, so this script runs in a process and an environment of its own. By hand:
    PYTHONPATH=runners/kit/python python pipelines/steps/official_prompt.py --param name=baby_lm
        --param sha256=SHA --output prompt=FILE --output starter=DIR
"""

import hashlib
from importlib.metadata import version
from pathlib import Path

from mlrb_kit.stage import read_stage

PACKAGE = "mlrb-agent-tasks"
BENCHMARKS = ("full_benchmark", "mini_benchmark")  # no name is in both


def main() -> None:
    import mlrb_agent_tasks  # late: only this stage's environment has it

    stage = read_stage()
    name, pinned = stage.param("name"), stage.param("sha256")
    prompt_file, starter = stage.output("prompt").resolve(), stage.output("starter").resolve()
    release = f"{PACKAGE} {version(PACKAGE)}"
    package = Path(mlrb_agent_tasks.__file__).parent
    benchmark = next((one for one in BENCHMARKS if (package / one / name).is_dir()), BENCHMARKS[0])
    answer = mlrb_agent_tasks.get_task(str(starter / name), benchmark, name)
    if "error" in answer:
        raise SystemExit(f"{release} has no task {name}: {answer['error']}; see officialName in task.yaml")
    prompt = answer["prompt"].encode()
    digest = hashlib.sha256(prompt).hexdigest()
    if digest != pinned:
        raise SystemExit(
            f"{release} renders another prompt of {name} than task.yaml pins: "
            f"SHA-256 {digest}, pinned {pinned}. Read the new prompt. "
            "To use it, write its digest into promptDigest; attempts then become stale"
        )
    prompt_file.write_bytes(prompt)
    print(f"{release}: the prompt of {name}, SHA-256 {digest}")


if __name__ == "__main__":
    main()
