"""Ten minutes with an NVIDIA GPU: do training, scores, memory, the look-ahead test and leases hold there?

    python tests/device/gpu_check.py              # a Python with the packages of ml.lock
    python tests/device/gpu_check.py --rehearse   # one of each check on the CPU, twice: nothing about a GPU

Each line has a tolerance. Status 0: all compared lines are within it; 1: one is not; 2: nothing was compared.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SCORERS = ("bits-per-byte", "house-pairs", "house-facts")  # of smoke tasks, on their fixtures
DTYPES = ("bfloat16", "float16", "float32")  # the coarsest first
ERRORS_MAX = 0.1  # of a standard error: a table cannot show such a difference
TRAINING_MAX = 0.03  # of bits per byte: a GPU multiplies in BF16
ALLOCATED = 64 * 2**20
METER = f"""
import torch
from mlrb_kit.device import device, gpu_peak_bytes, restart_gpu_peak
before = restart_gpu_peak()
torch.zeros({ALLOCATED}, dtype=torch.uint8, device=device())
print(gpu_peak_bytes() - before)
"""


class Line(NamedTuple):
    check: str
    found: str
    expected: str
    answer: str  # ok, DIFFERS or not compared


class Trouble(Exception):
    pass


class Bench:
    def __init__(self, folder: Path, *, rehearsal: bool) -> None:
        self.folder = folder
        self.on_gpu = {"MLRB_GPUS": "0" if rehearsal else "1"}

    def python(self, *command: str, gpu: bool, cwd: Path = ROOT, **more: str) -> str:
        folders = ("runners/kit/python", "scorers/library", "tasks")
        path = os.pathsep.join(str(ROOT / folder) for folder in folders)
        device = self.on_gpu if gpu else {"MLRB_GPUS": "0"}
        env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **device, **more}
        return said([sys.executable, *command], cwd=cwd, env=env)

    def stage(
        self, script: str, param: dict[str, Any], inputs: dict[str, Path], output: str, gpu: bool
    ) -> Any:
        """The first JSON output of a stage's script. `output`: names, divided by spaces."""
        at = Path(tempfile.mkdtemp(dir=self.folder))
        admitted = {"formatVersion": 1, "admitted": True, "reasons": []}
        causal = (
            {"lookAhead": {"verdict": "causal", "detail": "not tested"}}
            if script.startswith("scorers")
            else {}
        )
        (at / "admission").write_text(json.dumps({**admitted, **causal}))
        flags = [f"--param={name}={json.dumps(value)}" for name, value in param.items()]
        flags += [
            f"--input={name}={path}" for name, path in {**inputs, "admission": at / "admission"}.items()
        ]
        flags += [f"--output={name}={at / name}.out" for name in output.split()]
        self.python(script, *flags, "--secret-seed", "ab" * 32, gpu=gpu)
        return json.loads((at / f"{output.split()[0]}.out").read_text())

    def train(self, *, gpu: bool) -> tuple[Path, float]:
        """A smoke agent's model of this repository's pages, and its bits per byte."""
        at = Path(tempfile.mkdtemp(dir=self.folder))
        (at / "data").mkdir()
        pages = sorted((ROOT / "docs").rglob("*.md"))
        rows = [json.dumps({"filename": page.name, "content": page.read_text("utf-8")}) for page in pages]
        (at / "data/train.jsonl").write_text("".join(f"{row}\n" for row in rows))
        env = {
            "MLRB_SEED": "1",
            "MLRB_DEADLINE": str(time.time() + 600),
            "MLRB_SUBMISSION": str(at / "submission"),
        }
        (at / "submission").mkdir()
        script = str(ROOT / "tasks/baby-lm/scripts/strong.py")
        words = self.python(script, gpu=gpu, cwd=at, **env)
        return at / "submission", float(re.findall(r"dev ([\d.]+) bits per byte", words)[-1])

    def score(self, scorer: str, submission: Path, *, gpu: bool) -> dict[str, Any]:
        import yaml

        facts = yaml.safe_load((ROOT / f"scorers/{scorer}/scorer.yaml").read_text("utf-8"))
        param = {
            name: facts[name] for name in ("version", "unit", "direction", "scoredText") if name in facts
        }
        inputs = {"submission": submission, "private": ROOT / f"scorers/{scorer}/fixtures/private"}
        return self.stage(f"scorers/{scorer}/measure.py", param, inputs, "score samples", gpu)

    def look_ahead(self, submission: Path) -> str:
        inputs = {"submission": submission, "private": ROOT / "scorers/bits-per-byte/fixtures/private"}
        scorers = {"scorers": ["bits-per-byte"]}
        return self.stage("pipelines/steps/causality.py", scorers, inputs, "causality admission", True)[
            "verdict"
        ]

    def peak(self, submission: Path, limit: int) -> dict[str, Any]:
        rules = {
            "data": "smoke",
            "rules": [{"method": "memory-max", "with": {"bytes": limit, "tokens": 100}}],
        }
        found = self.stage("pipelines/steps/memory.py", rules, {"submission": submission}, "memory", True)
        return found["measurements"][0]["runs"][0]


def said(command: list[str], **more: Any) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, **more)
    if ran.returncode != 0:
        raise Trouble(cause(ran.stderr or ran.stdout))
    return ran.stdout


def cause(output: str) -> str:
    """An exception is the last line, a diagnostic of mlrb the first."""
    lines = output.strip().splitlines() or ["no output"]
    return lines[-1 if "Traceback" in output else 0][:200]


def score_line(scorer: str, cpu: dict[str, Any], gpu: dict[str, Any]) -> Line:
    if cpu["kind"] != "scored" or gpu["kind"] != "scored":
        found = f"CPU {cpu['kind']}, GPU {gpu['kind']}"
        return Line(f"score {scorer}", found, "both scored", "DIFFERS")
    most = ERRORS_MAX * (cpu["standardError"] or 1e-6)
    off = abs(gpu["value"] - cpu["value"])
    found = f"CPU {cpu['value']:.6f}, GPU {gpu['value']:.6f}"
    return Line(f"score {scorer}", found, f"±{most:.2g} (a tenth of the standard error)", answer(off <= most))


def answer(holds: bool) -> str:
    return "ok" if holds else "DIFFERS"


def in_dtype(submission: Path, folder: Path, dtype: str) -> Path:
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(submission, folder)
    tensors = {
        name: tensor.to(getattr(torch, dtype))
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "torch_dtype": dtype}))
    return folder


def shared(spans: list[tuple[str, float, float]]) -> list[str]:
    """The GPUs that two stages held at once."""
    ordered = sorted(spans)
    return [one[0] for one, after in pairwise(ordered) if one[0] == after[0] and after[1] < one[2]]


def leases(folder: Path) -> Line:
    """Two runs that do not know each other, with two stages each."""
    program, pipeline = str(ROOT / "mlrb"), "pipelines/checks/gpu-leases.yaml"
    roots = [str(folder / name) for name in ("one", "two")]
    runs = [
        subprocess.Popen(
            [program, "run", pipeline, "--root", root, "--json"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for root in roots
    ]
    for run in runs:
        out, errors = run.communicate()
        if run.returncode != 0:
            raise Trouble(cause(errors or out))
    logs = [
        said([program, "log", f"hold[seed={seed}]", "--root", root], cwd=ROOT)
        for root in roots
        for seed in (1, 2)
    ]
    spans = [re.search(r"took (\S+) ([\d.]+)\s+gave ([\d.]+)", log) for log in logs]
    held = [(span[1], float(span[2]), float(span[3])) for span in spans if span]
    gpus = len({one[0] for one in held})
    found = f"{len(held)} stages on {gpus} GPU, shared: {', '.join(shared(held)) or 'none'}"
    return Line(
        "leases of two runs", found, "4 stages, none shared", answer(len(held) == 4 and not shared(held))
    )


def checks(bench: Bench, *, rehearsal: bool) -> list[Line]:
    lines: list[Line] = []

    def attempt(name: str, check: Any) -> Any:
        try:
            found = check()
        except (Trouble, ImportError, OSError) as trouble:
            lines.append(Line(name, str(trouble), "", "not compared"))
            return None
        if isinstance(found, Line):
            lines.append(found)
        return found

    trained = [attempt("training", lambda gpu=gpu: bench.train(gpu=gpu)) for gpu in (False, True)]
    if None not in trained:
        (submission, cpu), (_, gpu) = trained
        found = f"CPU {cpu:.4f}, GPU {gpu:.4f} bits per byte"
        lines.append(
            Line(
                "training, script-strong, seed 1",
                found,
                f"±{TRAINING_MAX:.0%}",
                answer(abs(gpu / cpu - 1) <= TRAINING_MAX),
            )
        )
    if trained[0] is not None:
        submission = trained[0][0]
        for scorer in SCORERS[:1] if rehearsal else SCORERS:
            attempt(
                f"score {scorer}",
                lambda scorer=scorer: score_line(
                    scorer, *(bench.score(scorer, submission, gpu=gpu) for gpu in (False, True))
                ),
            )
        for dtype in DTYPES[:1] if rehearsal else DTYPES:
            attempt(
                f"look-ahead, {dtype}",
                lambda dtype=dtype: verdict_line(
                    f"look-ahead, {dtype}",
                    bench.look_ahead(in_dtype(submission, bench.folder / dtype, dtype)),
                    "causal",
                ),
            )
        attempt("memory rule", lambda: memory_line(bench, submission))
    made = bench.folder / "made"
    made.mkdir()
    cheat = "look-ahead, attention in both directions"
    attempt(cheat, lambda: bench.python("scorers/testing/make_submissions.py", str(made), gpu=False) and None)
    if (made / "two-way-attention").exists():
        attempt(
            cheat, lambda: verdict_line(cheat, bench.look_ahead(made / "two-way-attention"), "looks-ahead")
        )
    if not rehearsal:
        attempt("peak of a known allocation", lambda: peak_line(int(bench.python("-c", METER, gpu=True))))
    attempt("leases of two runs", lambda: leases(bench.folder))
    return lines


def verdict_line(name: str, verdict: str, expected: str) -> Line:
    return Line(name, verdict, expected, answer(verdict == expected))


def peak_line(peak: int) -> Line:
    holds = abs(peak / ALLOCATED - 1) <= 0.01
    return Line("peak of a known allocation", f"{peak} bytes", f"{ALLOCATED} ±1%", answer(holds))


def memory_line(bench: Bench, submission: Path) -> Line:
    """The weights alone are a lower bound of the peak, and a limit of half of them is exceeded."""
    weights = (submission / "model.safetensors").stat().st_size
    peak = bench.peak(submission, 2**30)
    tight = bench.peak(submission, weights // 2)
    over = tight["end"] == "over-limit" or tight["atLeastBytes"] > weights // 2
    found = f"{peak['atLeastBytes']} bytes, half of the weights: {tight['end']}"
    holds = peak["end"] == "measured" and weights <= peak["atLeastBytes"] <= 2**29 and over
    return Line("memory rule", found, f"at least the weights ({weights}), over half of them", answer(holds))


def table(lines: list[Line]) -> str:
    rows = [Line("check", "found", "expected", "answer"), *lines]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def status(lines: list[Line]) -> int:
    answers = {line.answer for line in lines}
    return 1 if "DIFFERS" in answers else 0 if "ok" in answers else 2


def gpu_name() -> str | None:
    try:
        import torch
    except ImportError:
        return None
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rehearse", action="store_true", help="do the GPU's work on the CPU")
    rehearsal = parser.parse_args().rehearse
    name = gpu_name()
    if name is None and not rehearsal:
        print("no GPU that torch sees: nothing compared")
        return 2
    print(
        "rehearsal on the CPU: nothing here is about a GPU" if rehearsal else f"CPU against {name}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        lines = checks(Bench(Path(folder), rehearsal=rehearsal), rehearsal=rehearsal)
    print(table(lines))
    return status(lines)


if __name__ == "__main__":
    sys.exit(main())
