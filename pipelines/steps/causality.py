"""Tests whether a submission's predictions use the text that they predict, before it is scored (ADR 39).

Writes causality.json, with every cut, and admission.json, which scores and the verdict read.
By hand, to repeat a test (`seed` is in causality.json):
    PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/causality.py
    --input submission=DIR --input admission=FILE --input private=DIR
    --output causality=FILE --output admission=FILE
    --param 'scorers=["bits-per-byte"]' --secret-seed HEX
"""

from pathlib import Path
from typing import Any

from mlrb_kit.admitted import read_admission
from mlrb_kit.canonical import write_canonical
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage, read_stage

NEEDLESS = "no scorer of this task gives a model the tokens that it predicts"


def main() -> None:
    stage = read_stage()
    admission = read_admission(stage)
    admitted = admission["admitted"] and not admission.get("undecided")
    kinds = [kind for name in stage.param("scorers") if (kind := scored_text(stage, name))]

    def write(found: dict[str, Any], tokenizer: dict[str, str] | None = None) -> None:
        write_canonical(stage.output("causality"), {"formatVersion": 1, **found})
        said = {key: found[key] for key in ("verdict", "detail", "untested") if key in found}
        more = {"lookAhead": said, "tokenizer": tokenizer} if tokenizer else {}
        write_canonical(stage.output("admission"), {**admission, **more})
        print(f"{found['verdict']}: {found['detail']}")

    def act(folder: Path) -> None:
        write(found := test_causality(stage, folder, kinds), tokenizer_of(stage, folder, kinds))
        if found["verdict"] == "undecided":
            raise Rejected(found["detail"])

    if not kinds or not admitted:
        write(undecided("the submission is not admitted" if kinds else NEEDLESS))
    elif fault := fault_of(stage, act, stage.input("submission")):
        # what ended the guarded process may be the tokenizer's files, so they are not opened again
        write(undecided(fault), {"answer": "undecided", "detail": fault})


def test_causality(stage: Stage, folder: Path, kinds: list[str]) -> dict[str, Any]:
    if stage.secret_seed is None:
        raise SystemExit(
            "no secret seed: declare secretSeed: true in the pipeline, or give --secret-seed HEX"
        )
    from scorer_library.causality.scored_texts import scored_texts  # first: lm-eval reads variables on import

    texts = scored_texts(stage.input("private"), kinds)
    from mlrb_kit.submission import load_submission
    from scorer_library.causality.judge_causality import described, detail_of, measure_look_ahead

    try:
        submission = load_submission(folder)
        found = measure_look_ahead(submission, texts, bytes.fromhex(stage.secret_seed))
    except Rejected as rejected:
        return {**undecided(str(rejected)), "seed": stage.secret_seed}
    untested = [{"kind": kind, "detail": why} for kind, why in sorted(found.untested.items())]
    return {
        "verdict": "looks-ahead" if found.looks_ahead() else "causal",
        "detail": detail_of(found),
        "seed": stage.secret_seed,
        "measured": described(found),
        **({"untested": untested} if untested else {}),
    }


def tokenizer_of(stage: Stage, folder: Path, kinds: list[str]) -> dict[str, str]:
    from scorer_library.causality.scored_texts import scored_texts
    from scorer_library.tokenizer_files import tokenizer_finding

    texts = scored_texts(stage.input("private"), kinds)
    given = {part for text in texts for part in (text.context, text.scored)}
    return tokenizer_finding(folder, given)


def scored_text(stage: Stage, scorer: str) -> str | None:
    import yaml

    path = stage.source_file(f"scorers/{scorer}/scorer.yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8")).get("scoredText")


def undecided(reason: str) -> dict[str, Any]:
    return {"verdict": "undecided", "detail": reason}


if __name__ == "__main__":
    main()
