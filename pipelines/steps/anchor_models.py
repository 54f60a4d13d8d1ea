"""Makes the models that nobody trained for a task, which its scores are read against (task.yaml: `anchors`).

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/anchor_models.py
    --param 'anchors=[{"name": "random-weights", "title": "…", "model": "small-random"}]'
    --input public=DIR --input models=DIR --output models=DIR

`model` is `small-random`, `given:NAME` (one of the models that the task gives, as it is) or `random:NAME`
(its architecture and tokenizer, with weights as they are before any training).
"""

import shutil
from pathlib import Path

from mlrb_kit.anchor_titles import write_titles
from mlrb_kit.stage import Stage, read_stage
from scorer_library.ngram import read_public, train_bpe

SEED = 0
WIDTH, LAYERS, HEADS, POSITIONS = 64, 1, 4, 1024
END = "<|endoftext|>"


def main() -> None:
    stage = read_stage()
    models = stage.output("models")
    anchors = stage.param("anchors")
    for anchor in anchors:
        kind, _, name = anchor["model"].partition(":")
        if kind not in MODELS:
            known = ", ".join(MODELS)
            raise SystemExit(
                f'no model "{anchor["model"]}" for the anchor {anchor["name"]}; there are: {known}'
            )
        MODELS[kind](stage, name, models / anchor["name"])
    write_titles(models, {anchor["name"]: anchor["title"] for anchor in anchors})


def small_random(stage: Stage, _name: str, folder: Path) -> None:
    """A GPT-2 of one layer, never trained, over byte-level BPE tokens (2 000) of the public text."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    bpe = train_bpe(read_public(stage.input("public")))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )
    end = tokenizer.convert_tokens_to_ids(END)  # added after the text's own
    torch.manual_seed(SEED)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=POSITIONS,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        bos_token_id=end,
        eos_token_id=end,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def given(stage: Stage, name: str, folder: Path) -> None:
    shutil.copytree(given_model(stage, name), folder, copy_function=shutil.copy)


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
    raise SystemExit(f'the task gives no model "{name}"; it gives: {known}')


MODELS = {"small-random": small_random, "given": given, "random": random}

if __name__ == "__main__":
    main()
