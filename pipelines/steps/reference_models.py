"""Makes a task's reference models, which were not trained for the task (task.yaml: `references`).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/reference_models.py
    --param 'references=[{"name": "random-weights", "title": "…", "model": "small-random"}]'
    --input public=DIR --input models=DIR --output models=DIR

`model` is `small-random`, `given:NAME` (a model that the task provides, unchanged), `random:NAME` (the
architecture and tokenizer of that model, with untrained weights) or `published:NAME` (a published model of
task.yaml's `publishedModels`, unchanged).
"""

import shutil
from pathlib import Path

from mlrb_kit.random_gpt2 import write_random_gpt2
from mlrb_kit.reference_titles import About, write_titles
from mlrb_kit.stage import Stage, read_stage
from mlrb_kit.stored import read_stored
from scorer_library.ngram import read_public, train_bpe

SEED = 0


def main() -> None:
    stage = read_stage()
    models = stage.output("models")
    references = stage.param("references")
    for reference in references:
        kind, _, name = reference["model"].partition(":")
        if kind not in MODELS:
            known = ", ".join(MODELS)
            raise SystemExit(
                f'no model "{reference["model"]}" for the reference {reference["name"]}; there are: {known}'
            )
        MODELS[kind](stage, name, models / reference["name"])
    write_titles(models, {each["name"]: about(each, models / each["name"]) for each in references})


def about(reference: dict[str, str], model: Path) -> About:
    """The kind follows from the model: a mean over tasks needs reference models of one kind."""
    kinds = {"given": "given-model", "published": "published-model"}
    kind = kinds.get(reference["model"].partition(":")[0], "untrained")
    return {"title": reference["title"], "kind": kind, "parameters": read_stored(model).parameters}


def small_random(stage: Stage, _name: str, folder: Path) -> None:
    """A GPT-2 of one layer, never trained, over byte-level BPE tokens (2 000) of the public text."""
    bpe = train_bpe(read_public(stage.input("public")))
    write_random_gpt2(folder, bpe, seed=SEED, width=64, layers=1)


def given(stage: Stage, name: str, folder: Path) -> None:
    shutil.copytree(given_model(stage, name), folder, copy_function=shutil.copy)


def published(stage: Stage, name: str, folder: Path) -> None:
    models = stage.inputs.get("published")
    if models is None or not (models / name).is_dir():
        raise SystemExit(f'no published model "{name}": task.yaml does not name it in publishedModels')
    shutil.copytree(models / name, folder, copy_function=shutil.copy)


def random(stage: Stage, name: str, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    weights = shutil.ignore_patterns("*.safetensors*")
    shutil.copytree(given_model(stage, name), folder, copy_function=shutil.copy, ignore=weights)
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    torch.manual_seed(SEED)
    AutoModelForCausalLM.from_config(config).to(config.dtype).save_pretrained(folder)


def given_model(stage: Stage, name: str) -> Path:
    models = stage.input("models")
    if (models / name / "config.json").is_file():
        return models / name
    known = ", ".join(sorted(path.name for path in models.iterdir())) or "none"
    raise SystemExit(f'the task provides no model "{name}"; it provides: {known}')


MODELS = {"small-random": small_random, "given": given, "random": random, "published": published}

if __name__ == "__main__":
    main()
