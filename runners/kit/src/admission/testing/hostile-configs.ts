// Settings whose numbers no honest model has. They are valid JSON; the memory or time is taken when transformers
// builds the model. Also settings that name code: no code of a submission is run.
import { type HostileCase, withFiles } from "./hostile-case.ts";

const huge = 1_000_000_000;

const bombs: Record<string, object> = {
  "num-labels-1e9": { model_type: "gpt2", num_labels: huge },
  "id2label-1e5": {
    model_type: "gpt2",
    id2label: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [at, "x"])),
  },
  "gpt2-layers": { model_type: "gpt2", n_layer: huge },
  "gpt2-positions": { model_type: "gpt2", n_positions: huge },
  "gpt2-width": { model_type: "gpt2", n_embd: huge },
  "gpt2-vocabulary": { model_type: "gpt2", vocab_size: huge },
  "gpt-neo-attention-types": {
    model_type: "gpt_neo",
    num_layers: huge,
    attention_types: [[["global", "local"], huge / 2]],
  },
  "gpt-neo-window": { model_type: "gpt_neo", window_size: huge, max_position_embeddings: 100_000 },
  "gpt-neox-rotary": { model_type: "gpt_neox", max_position_embeddings: huge },
  "ctrl-positions": { model_type: "ctrl", n_positions: huge },
  "bart-decoder-layers": { model_type: "bart", decoder_layers: huge },
  "bart-encoder-layers": { model_type: "bart", encoder_layers: huge },
  "mbart-positions": { model_type: "mbart", max_position_embeddings: huge },
  "mixtral-experts": { model_type: "mixtral", num_local_experts: huge },
  "mixtral-experts-per-token": { model_type: "mixtral", num_experts_per_tok: huge },
  "qwen2-moe-experts": { model_type: "qwen2_moe", num_experts: huge },
  "marian-positions": { model_type: "marian", max_position_embeddings: huge },
  "pegasus-positions": { model_type: "pegasus", max_position_embeddings: huge },
  "t5-layers": { model_type: "t5", num_layers: huge, num_decoder_layers: huge },
  "t5-buckets": { model_type: "t5", relative_attention_num_buckets: huge },
  "mamba-state": { model_type: "mamba", state_size: huge },
  "llama-layers": { model_type: "llama", num_hidden_layers: huge },
  "llama-heads": { model_type: "llama", num_attention_heads: huge, num_key_value_heads: huge },
  "llama-head-width": { model_type: "llama", head_dim: huge },
  "llama-rope-factors": {
    model_type: "llama",
    rope_scaling: { type: "longrope", short_factor: Array(100_000).fill(1), long_factor: [1] },
  },
  "qwen2-layer-types": { model_type: "qwen2", layer_types: Array(100_000).fill("full_attention") },
  "bloom-heads": { model_type: "bloom", n_head: huge },
  "opt-positions": { model_type: "opt", max_position_embeddings: huge },
  "xglm-positions": { model_type: "xglm", max_position_embeddings: huge },
  "reformer-axial": { model_type: "reformer", axial_pos_shape: [huge, huge], max_position_embeddings: huge },
  "longformer-window": { model_type: "longformer", attention_window: Array(10_000).fill(huge) },
  "falcon-layers": { model_type: "falcon", num_hidden_layers: huge },
  "layers-1e30": { model_type: "gpt2", n_layer: 1e30 },
  "layers-negative": { model_type: "gpt2", n_layer: -1 },
  "layers-text": { model_type: "gpt2", n_layer: "12" },
  "layers-list": { model_type: "gpt2", n_layer: [1, 2] },
  "model-type-unknown": { model_type: "no-such-model" },
  "model-type-path": { model_type: "../../../etc" },
  "model-type-number": { model_type: 7 },
  "heads-zero": { model_type: "gpt2", n_head: 0 },
};

/** Their sizes do not show in the weights' shapes; the load check stops them. */
const admitted = new Set([
  "num-labels-1e9",
  "id2label-1e5",
  "gpt2-width",
  "gpt-neo-window",
  "mixtral-experts-per-token",
  "mamba-state",
  "llama-head-width",
  "llama-rope-factors",
  "qwen2-layer-types",
  "layers-1e30",
  "layers-negative",
  "layers-list",
  "heads-zero",
]);

/** Not scorable, whatever else they say. */
const families = /^(bert|longformer|mbart|no-such-model|\.\..*)$/;

const code: Record<string, [codes: string[], file: string, settings: object]> = {
  "auto-map": [[], "config.json", { model_type: "gpt2", auto_map: { AutoModel: "a--b.C" } }],
  "auto-map-only": [["not-scorable"], "config.json", { model_type: "x", auto_map: { AutoModel: "x.C" } }],
  "auto-map-nested": [[], "config.json", { model_type: "gpt2", a: [{ b: { auto_map: {} } }] }],
  "auto-map-tokenizer": [[], "tokenizer_config.json", { auto_map: { AutoTokenizer: ["x.Y", null] } }],
  "auto-map-tokenizer-only": [
    ["not-scorable"],
    "tokenizer_config.json",
    { tokenizer_class: "XTokenizer", auto_map: { AutoTokenizer: ["x.XTokenizer", null] } },
  ],
  "trust-remote-code": [[], "generation_config.json", { trust_remote_code: true }],
  "custom-pipelines": [[], "config.json", { model_type: "gpt2", custom_pipelines: {} }],
  "other-weights": [
    ["config"],
    "config.json",
    { model_type: "gpt2", transformers_weights: "other.safetensors" },
  ],
  "attention-kernel": [["config"], "config.json", { model_type: "gpt2", _attn_implementation: "x/kernel" }],
  "auto-map-200-000": [[], "config.json", { model_type: "gpt2", a: Array(200_000).fill({ auto_map: 0 }) }],
};

/** The same bombs for a loader without admission in front. */
export const hostileBombs: HostileCase[] = Object.entries(bombs).map(([name, config]) =>
  withFiles(`config-${name}`, [], { "config.json": JSON.stringify(config) }),
);

export const hostileConfigs: HostileCase[] = [
  ...Object.entries(bombs).map(([name, config]) =>
    admitted.has(name)
      ? withFiles(`config-${name}`, [], { "config.json": JSON.stringify(config) }, { explodes: "on load" })
      : withFiles(
          `config-${name}`,
          [families.test(`${(config as { model_type: unknown }).model_type}`) ? "not-scorable" : "config"],
          { "config.json": JSON.stringify(config) },
        ),
  ),
  ...Object.entries(code).map(([name, [codes, file, settings]]) =>
    withFiles(`code-${name}`, codes, { [file]: JSON.stringify(settings) }),
  ),
];
