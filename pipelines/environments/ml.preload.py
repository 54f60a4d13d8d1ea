"""Imports that scripts of ml.lock need, made once by the process that scripts are forked from.

Forked scripts start sooner and write the same outputs. They have no network.
"""

# ruff: noqa: F401 (importing is the purpose)

import os

os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_DATASETS_DISABLE_PROGRESS_BARS="1",
    TRANSFORMERS_VERBOSITY="error",
    TQDM_DISABLE="1",
    LMEVAL_LOG_LEVEL="ERROR",
)

import lm_eval
import lm_eval.evaluator
import lm_eval.models.huggingface
import safetensors.torch
import tokenizers
import torch
from lm_eval.tasks import TaskManager
from transformers import (  # transformers imports each name on first use
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2LMHeadModel,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
