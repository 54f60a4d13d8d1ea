"""What programs of ml.lock import, imported once by the process that they are forked from.

It changes how soon they start, never what they give. Programs that are forked have no network.
"""

# ruff: noqa: F401 (to import is the point)

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
import rouge_score.rouge_scorer  # by way of nltk, a second
import safetensors.torch
import tokenizers
import torch
from lm_eval.tasks import TaskManager
from transformers import (  # each is imported when it is named
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2LMHeadModel,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
