"""Measures the GPT-2 models of agent-eval's reference points, and fails unless upstream's values come out.

Parameters must be equal, and perplexity within a thousandth. Speed depends on the GPU, which upstream does
not name, so it is printed and decides nothing. By hand, with PYTHONPATH as docs/authors.md says:
    python scorers/agent-eval/reference_points.py --input manifest=FILE --output points=FILE
"""

import json
from pathlib import Path
from typing import Any

import yaml

from measure import SETTINGS, measure_text
from mlrb_kit.canonical import write_canonical
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import read_stage
from scorer_library.wikitext import joined

TOLERANCE = 1e-3  # upstream's own values on a GPU and on a CPU differ by 1e-6
TABLE = "scorers/agent-eval/reference-points.yaml"
TEXT = "wikitext-2"


def main() -> None:
    stage = read_stage()
    folders = downloaded(stage.input("manifest"))
    text = read_text(folders[TEXT])
    published = yaml.safe_load(stage.source_file(TABLE).read_text(encoding="utf-8"))
    points = [check_point(name, folders[name], text, known) for name, known in published.items()]
    write_canonical(stage.output("points"), {"formatVersion": 1, "points": points})
    failed = [point["source"] for point in points if point["problems"]]
    if failed:
        raise SystemExit(f"not reproduced: {', '.join(failed)}")
    print(f"all {len(points)} reference points are reproduced")


def downloaded(manifest: Path) -> dict[str, Path]:
    """The folder of each source. Ends the script if one was not downloaded."""
    folders = {}
    for member in json.loads(manifest.read_text(encoding="utf-8"))["members"]:
        artifact = member["artifacts"].get("files", {})
        if "path" not in artifact:
            cause = member.get("cause") or member["outcome"]
            raise SystemExit(f"the source {member['axes']['source']} is not downloaded: {cause}")
        folders[member["axes"]["source"]] = manifest.parent / artifact["path"]
    return folders


def read_text(folder: Path) -> str:
    import pyarrow.parquet

    files = sorted(folder.glob("wikitext-2-raw-v1/test-*.parquet"))
    if not files:
        raise SystemExit(f"{TEXT} holds no wikitext-2-raw-v1/test-*.parquet; check sources/{TEXT}.yaml")
    rows = [pyarrow.parquet.read_table(file, columns=["text"])["text"].to_pylist() for file in files]
    return joined(row for part in rows for row in part)


def check_point(name: str, folder: Path, text: str, published: dict[str, float]) -> dict[str, Any]:
    try:
        score = measure_text(folder, text, SETTINGS).score
        if isinstance(score, Rejected):
            raise score
    except Rejected as rejected:
        print(f"{name}: rejected: {rejected}", flush=True)
        return {"source": name, "published": published, "problems": [str(rejected)]}
    measured = {**score["extra"], "perplexity": score["extra"]["perplexityRunningMean"]}
    problems = compared(measured, published)
    print(
        "\n".join([f"{name}: {'; '.join(problems) or 'reproduced'}", *rows_of(measured, published)]),
        flush=True,
    )
    return {"source": name, "published": published, "measured": measured, "problems": problems}


def compared(measured: dict[str, float], published: dict[str, float]) -> list[str]:
    """What differs from upstream's values, in words."""
    problems = []
    if measured["parameters"] != published["parameters"]:
        problems.append(f"{measured['parameters']} parameters instead of {published['parameters']}")
    if abs(measured["perplexity"] / published["perplexity"] - 1) > TOLERANCE:
        problems.append(f"perplexity {measured['perplexity']:.4f} instead of {published['perplexity']}")
    return problems


def rows_of(measured: dict[str, float], published: dict[str, float]) -> list[str]:
    return [
        f"  {name}: {measured[name]:.6g}, published {value:.6g}, ratio {measured[name] / value:.4f}"
        for name, value in published.items()
    ]


if __name__ == "__main__":
    main()
