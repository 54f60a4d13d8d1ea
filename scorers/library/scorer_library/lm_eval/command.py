"""Runs the `lm_eval` command on a submission and local data, as a reference for the scorers' numbers.

Only the rows are shared with the scorers: the command loads the model, the tokenizer and the JSON Lines
itself, in a separate process. By hand:
    PYTHONPATH=runners/kit/python:scorers/library VENV/bin/python -m scorer_library.lm_eval.command
        --submission DIR --data DIR --repository OWNER/NAME --splits test,dev --tasks NAME,NAME
        --dtype float32
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with CONFIG/SPLIT.jsonl")
    parser.add_argument("--repository", required=True, help="the data's name in the task files")
    parser.add_argument("--splits", required=True, help="the scored split first; the others get its rows")
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--dtype", required=True)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        link_data(Path(folder, args.repository), args.data.absolute(), args.splits.split(","))
        command = [sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--device", "cpu"]
        model = f"pretrained={args.submission.absolute()},dtype={args.dtype},softmax_dtype=float32"
        command += ["--model_args", model]
        command += ["--tasks", args.tasks, "--batch_size", "1", "--output_path", "out"]
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": f"{folder}/home"}
        ran = subprocess.run(
            command, cwd=folder, env={**os.environ, **offline}, capture_output=True, text=True, check=False
        )
        if ran.returncode != 0:
            raise SystemExit(f"lm_eval ended with {ran.returncode}:\n{ran.stderr[-4000:]}")
        (found,) = Path(folder, "out").rglob("results_*.json")
        print(json.dumps(json.loads(found.read_text(encoding="utf-8"))["results"], sort_keys=True))


def link_data(root: Path, data: Path, splits: list[str]) -> None:
    configs = sorted(path.name for path in data.iterdir() if path.is_dir())
    front = []
    for config in configs:
        (root / config).mkdir(parents=True)
        for split in splits:
            (root / config / f"{split}.jsonl").symlink_to(data / config / f"{splits[0]}.jsonl")
        files = [{"split": split, "path": f"{config}/{split}.jsonl"} for split in splits]
        front.append({"config_name": config, "data_files": files})
    (root / "README.md").write_text(f"---\n{json.dumps({'configs': front})}\n---\n", encoding="utf-8")


if __name__ == "__main__":
    main()
