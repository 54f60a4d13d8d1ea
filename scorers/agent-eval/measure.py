"""Measures what upstream's agent-eval measures of a submission (defined in README.md)."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mlrb_kit.admitted import read_admission
from mlrb_kit.not_measured import write_not_measured
from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measured, judged, score_stage
from mlrb_kit.stage import Stage, read_stage
from mlrb_kit.submission import is_encoder_decoder, load_submission, read_model_type
from perplexity import Sample, perplexity_of, running_mean, window_samples
from scorer_library.costs.efficiency import read_settings
from scorer_library.ratio import ratio
from scorer_library.wikitext import encode_wikitext, read_wikitext
from speed import measure_speed

SETTINGS = {"warmups": 5, "runs": 10}
UNDEFINED = "upstream's agent-eval loads decoders only, and this model is an encoder-decoder"


def measure(submission: Path, private: Path) -> Measured:
    return measure_text(submission, read_wikitext(private), read_settings(private, SETTINGS))


def measure_text(folder: Path, text: str, settings: dict[str, int]) -> Measured:
    submission = load_submission(folder)
    if submission.encoder_decoder:
        raise Rejected(UNDEFINED)
    ids = encode_wikitext(submission, text)
    samples = window_samples(submission, ids)
    more = {
        "bytesPerToken": len(text.encode()) / len(ids),
        "parameters": sum(values.numel() for values in submission.model.parameters()),
    }
    return judged(samples, lambda: scored(samples, {**more, **measure_speed(submission, settings)}))


def scored(samples: list[Sample], more: dict[str, Any]) -> dict[str, Any]:
    """The standard error of exp(x) is exp(x) times that of x."""
    nats, error = ratio(samples)
    value = perplexity_of(nats)
    return {
        "value": value,
        "standardError": value * error,
        "items": len(samples),
        "groups": {},
        "extra": {
            "perplexityRunningMean": running_mean(samples),
            "tokens": sum(sample["weight"] for sample in samples),
            **more,
        },
    }


def not_defined(stage: Stage) -> str | None:
    """Why an admitted submission is not measured: it is not at fault for what upstream does not define."""
    admission = read_admission(stage)
    if not admission["admitted"] or admission.get("undecided"):
        return None
    try:
        model_type = read_model_type(stage.input("submission"))
    except Rejected:
        return None  # measuring it says why
    return UNDEFINED if is_encoder_decoder(SimpleNamespace(model_type=model_type)) else None


if __name__ == "__main__":
    if reason := not_defined(read_stage()):
        write_not_measured(reason)
    else:
        score_stage(measure)
