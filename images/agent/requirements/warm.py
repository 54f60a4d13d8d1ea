import datasets, pandas, scipy.stats, sklearn.metrics, sympy
import torch, safetensors.torch, tokenizers, lm_eval, lm_eval.models.huggingface
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel
