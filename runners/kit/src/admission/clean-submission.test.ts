import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Admission } from "@mlrb/formats/judged/admission";
import { float32, safetensorsBytes } from "../safetensors/testing/safetensors-bytes.ts";
import { admit } from "./admit-submission.ts";
import { writeCleanSubmission } from "./clean-submission.ts";

const root = mkdtempSync(join(tmpdir(), "clean-submission-"));
after(() => rmSync(root, { recursive: true }));

const weights = safetensorsBytes({
  "wte.weight": float32([16, 2], new Array(32).fill(0.5)),
  "h.0": float32([2], [1, 2]),
});
const gpt2 = { model_type: "gpt2", n_layer: 2, vocab_size: 16, n_embd: 2 };

type Files = Record<string, unknown>;

/** Admits a small submission with `files`, and writes its clean folder. Values that are no text are written as JSON. */
function clean(files: Files) {
  const folder = mkdtempSync(join(root, "c-"));
  const all = { "config.json": gpt2, "tokenizer.json": {}, "model.safetensors": weights, ...files };
  for (const [name, content] of Object.entries(all)) {
    if (content === undefined) continue;
    const raw = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(join(folder, name), raw ? content : JSON.stringify(content));
  }
  const admission = admit(folder);
  const to = join(folder, "clean");
  writeCleanSubmission(folder, to);
  const text = (name: string) => readFileSync(join(to, name), "utf8");
  return { admission, to, text, json: (name: string) => JSON.parse(text(name)) };
}

const dropped = ({ dropped = [] }: Admission) => dropped.map(({ key }) => key);
const details = (reasons: Admission["reasons"] | undefined) => (reasons ?? []).map(({ detail }) => detail);
const config = (more: object) => clean({ "config.json": { ...gpt2, ...more } });

test("weights and vocabularies keep their bytes, and no other file is loaded", () => {
  const tokenizer = '{ "model": {"vocab": {"auto_map": 0}} }\n';
  const { to, text } = clean({
    "tokenizer.json": tokenizer,
    "vocab.json": "{}",
    "prompt.json": '{"formatVersion": 1}',
    "chat_template.jinja": "{{ x }}",
    "config.4.57.0.json": gpt2,
    "preprocessor_config.json": {},
    "README.md": "x",
  });
  assert.deepEqual(readdirSync(to).sort(), [
    "config.json",
    "model.safetensors",
    "prompt.json",
    "tokenizer.json",
    "vocab.json",
  ]);
  assert.equal(text("tokenizer.json"), tokenizer);
  assert.deepEqual(new Uint8Array(readFileSync(join(to, "model.safetensors"))), new Uint8Array(weights));
});

test("shards are kept with an index that names only them", () => {
  const shard = (name: string) => safetensorsBytes({ [name]: float32([1], [1]) });
  const index = {
    metadata: { total_size: 8, path: "/etc" },
    weight_map: { a: "one.safetensors", b: "two.safetensors" },
  };
  const folder = mkdtempSync(join(root, "s-"));
  const files = {
    "config.json": "{}",
    "tokenizer.json": "{}",
    "model.safetensors.index.json": JSON.stringify(index),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, "one.safetensors"), shard("a"));
  writeFileSync(join(folder, "two.safetensors"), shard("b"));
  const to = join(folder, "clean");
  writeCleanSubmission(folder, to);
  const text = readFileSync(join(to, "model.safetensors.index.json"), "utf8");
  assert.deepEqual(JSON.parse(text), { metadata: {}, weight_map: index.weight_map });
  assert.equal(readdirSync(to).filter((name) => name.endsWith(".safetensors")).length, 2);
});

test("numbers keep their text, and infinity stays infinity for Python", () => {
  const text = `{"model_type":"mamba2","time_step_limit":[0.0, Infinity],"hidden_size":1.0,"layer_norm_epsilon":1e-05}`;
  const found = clean({
    "config.json": text,
    "tokenizer_config.json": '{"model_max_length": 1000000000000000019884624838656}',
  });
  assert.deepEqual(found.admission.reasons, []);
  assert.match(found.text("config.json"), /\[\s*0\.0,\s*1e999\s*\][\s\S]*"hidden_size": 1\.0[\s\S]*1e-05/);
  assert.match(found.text("tokenizer_config.json"), /: 1000000000000000019884624838656/);
});

test("settings of a tokenizer that name files are left out wherever they stand", () => {
  const hostile = {
    tokenizer_file: "/elsewhere/tokenizer.json",
    vocab_file: "/etc/passwd",
    merges_file: "../merges.txt",
    special_tokens_map_file: "file:///etc/passwd",
    name_or_path: "someone/model",
    init_inputs: ["/etc/passwd"],
    fast_tokenizer_files: ["tokenizer.1.0.json"],
    gguf_file: "x.gguf",
    tokenizer_object: {},
    __slow_tokenizer: {},
    cache_dir: "/tmp",
    eos_token: "</s>",
  };
  for (const file of ["tokenizer_config.json", "special_tokens_map.json"]) {
    const { admission, json } = clean({ [file]: hostile });
    assert.deepEqual(json(file), { eos_token: "</s>" }, file);
    const names = Object.keys(hostile).filter((key) => key !== "eos_token");
    assert.deepEqual(dropped(admission).sort(), names.sort(), file);
    assert.equal(admission.admitted, true, file);
  }
});

test("tokens may be any text, and are nothing but tokens", () => {
  const token = {
    content: "/etc/passwd",
    lstrip: false,
    rstrip: false,
    normalized: true,
    single_word: false,
    special: true,
  };
  const good = {
    bos_token: token,
    eos_token: "</s>",
    additional_special_tokens: ["<a/b>", token],
    added_tokens_decoder: { 3: token },
    extra_special_tokens: { image_token: "<img>" },
    add_bos_token: false,
    model_max_length: 512,
    padding_side: "left",
    tokenizer_class: "GPT2Tokenizer",
  };
  const { json, admission } = clean({ "tokenizer_config.json": good });
  assert.deepEqual(json("tokenizer_config.json"), good);
  assert.deepEqual(admission, { formatVersion: 1, admitted: true, reasons: [] });
  for (const bad of [
    { eos_token: 7 },
    { eos_token: { content: "x", vocab_file: "/etc/passwd" } },
    { added_tokens_decoder: { vocab_file: token } },
    { extra_special_tokens: { tokenizer_file: "/etc/passwd" } },
    { errors: "/etc/passwd" },
    { tokenizer_class: "../Evil" },
  ]) {
    const [reason] = clean({ "tokenizer_config.json": bad }).admission.reasons;
    assert.equal(reason?.code, "settings", JSON.stringify(bad));
  }
  const [reason] = clean({ "added_tokens.json": { x: "/etc/passwd" } }).admission.reasons;
  assert.equal(reason?.detail, 'added_tokens.json: "x" is not the id of a token');
});

test("a setting of the model holds no path, URL or repository, at any depth", () => {
  for (const name of ["/etc/passwd", "../x", "./x", "~/x", "C:\\x", "file:///x", "someone/kernel", "hf%2Fx"])
    for (const more of [
      { activation_function: name },
      { layer_types: ["full_attention", name] },
      { rope_scaling: { rope_type: name } },
      { rope_scaling: { inner: { [name]: 1 } } },
      { tokenizer_class: name },
    ]) {
      const { admission, text } = config(more);
      assert.equal(admission.reasons[0]?.code, "config", JSON.stringify(more));
      assert.ok(!text("config.json").includes(JSON.stringify(name)), JSON.stringify(more));
    }
});

test("a setting that names code for attention is refused as a text and in a table, and a plain word is left out", () => {
  for (const value of ["someone/kernel", { "": "someone/kernel" }, { text_config: ["../x"] }, [{ a: "x:y" }]])
    assert.equal(config({ _attn_implementation: value }).admission.reasons[0]?.code, "config");
  for (const value of ["sdpa", { text_config: "eager" }, null, { "": 3 }]) {
    const { admission, json } = config({ _attn_implementation: value });
    assert.deepEqual([admission.admitted, dropped(admission)], [true, ["_attn_implementation"]]);
    assert.deepEqual(json("config.json"), gpt2);
  }
});

test("settings that no code of the model's type reads are left out and listed, those of a part too", () => {
  const { admission, json } = clean({
    "config.json": {
      model_type: "gemma3",
      quality: 0.7,
      id2label: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [at, "x"])),
      text_config: { model_type: "gemma3_text", hidden_size: 8, my_note: "x" },
    },
  });
  assert.deepEqual(dropped(admission), ["quality", "id2label", "text_config.my_note"]);
  assert.deepEqual(json("config.json"), {
    model_type: "gemma3",
    text_config: { model_type: "gemma3_text", hidden_size: 8 },
  });
});

test("what may change the model and is unknown is left to the operator, by name", () => {
  const cases: [object, RegExp][] = [
    [{ quantization_config: { quant_method: "fp8" } }, /config\.json: "quantization_config" changes/],
    [
      { transformers_version: "99.0.0", new_setting: 3 },
      /"new_setting" is unknown to transformers .* later version/,
    ],
  ];
  for (const [more, wanted] of cases) {
    const { admission } = config(more);
    assert.equal(admission.admitted, true);
    assert.match(details(admission.undecided).join(), wanted);
  }
  const part = clean({ "config.json": { model_type: "fuyu", text_config: { model_type: "unheard" } } });
  assert.match(details(part.admission.undecided).join(), /"text_config" is a configuration of a type/);
  const known = config({ transformers_version: "99.0.0", new_setting: null, quantization_config: null });
  assert.equal(known.admission.undecided, undefined);
});

test("a class of tokenizer that transformers lacks is loaded from tokenizer.json as it is, else left open", () => {
  const named = {
    tokenizer_class: "TokenizersBackend",
    backend: "tokenizers",
    is_local: true,
    eos_token: "</s>",
  };
  const plain = { eos_token: "</s>", tokenizer_class: "PreTrainedTokenizerFast" };
  const five = clean({ "tokenizer_config.json": named });
  assert.deepEqual([five.admission.reasons, five.admission.undecided], [[], undefined]);
  assert.deepEqual(five.json("tokenizer_config.json"), plain);
  assert.deepEqual(dropped(five.admission), ["backend", "is_local", "tokenizer_class"]);
  const inConfig = config({ tokenizer_class: "TokenizerOfTomorrow" });
  assert.deepEqual(inConfig.json("config.json"), { ...gpt2, tokenizer_class: "PreTrainedTokenizerFast" });
  const pieces = { "tokenizer.json": undefined, "tokenizer.model": new Uint8Array([10, 1, 97]) };
  const lone = clean({ ...pieces, "tokenizer_config.json": named }).admission;
  assert.match(details(lone.undecided).join(), /is "TokenizersBackend", .*; save a tokenizer\.json with/);
  const code = clean({ "tokenizer_config.json": { ...named, auto_map: {} } }).admission;
  assert.deepEqual(
    code.reasons.map((reason) => reason.code),
    ["not-scorable"],
  );
});

test("special tokens under the names of transformers 5 are kept under the earlier ones", () => {
  const token = { content: "<b>", lstrip: false, __type: "AddedToken" };
  const cases: [object, object][] = [
    [{ extra_special_tokens: [] }, { additional_special_tokens: [] }],
    [{ extra_special_tokens: ["<a>", token] }, { additional_special_tokens: ["<a>", token] }],
    [
      { extra_special_tokens: ["<a>"], additional_special_tokens: ["<c>"] },
      { additional_special_tokens: ["<c>", "<a>"] },
    ],
    [{ extra_special_tokens: { image_token: "<i>" } }, { extra_special_tokens: { image_token: "<i>" } }],
    [
      { model_specific_special_tokens: { image_token: "<i>" }, extra_special_tokens: ["<a>"] },
      { additional_special_tokens: ["<a>"], extra_special_tokens: { image_token: "<i>" } },
    ],
    [
      { model_specific_special_tokens: { image_token: "<i>" }, extra_special_tokens: { audio_token: "<a>" } },
      { extra_special_tokens: { audio_token: "<a>", image_token: "<i>" } },
    ],
    [
      { additional_special_tokens: "<c>", extra_special_tokens: ["<a>"] },
      { additional_special_tokens: ["<c>", "<a>"] },
    ],
    [{ extra_special_tokens: null, model_specific_special_tokens: null }, {}],
  ];
  for (const file of ["tokenizer_config.json", "special_tokens_map.json"])
    for (const [given, wanted] of cases) {
      const { admission, json } = clean({ [file]: given });
      assert.deepEqual([admission.reasons, admission.undecided], [[], undefined], JSON.stringify(given));
      assert.deepEqual(json(file), wanted);
    }
});

test("settings of a tokenizer in the shape of a later version are left open, and what is no token is refused", () => {
  for (const later of [
    { eos_token: ["<a>", "<b>"] },
    { additional_special_tokens: { image_token: "<a>" } },
    { additional_special_tokens: "<a>" },
    { added_tokens_decoder: ["<a>"] },
    { model_max_length: { text: 512 } },
  ]) {
    const { admission } = clean({ "tokenizer_config.json": later });
    assert.deepEqual([admission.admitted, admission.undecided?.length], [true, 1], JSON.stringify(later));
  }
  for (const bad of [{ extra_special_tokens: [7] }, { extra_special_tokens: { vocab_file: "/etc/passwd" } }])
    assert.equal(clean({ "tokenizer_config.json": bad }).admission.reasons[0]?.code, "settings");
});

test("rope_parameters are kept as the settings that say the same, or left open", () => {
  const llama3 = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 64 };
  const local = {
    full_attention: { rope_theta: 5 },
    sliding_attention: { rope_theta: 7, rope_type: "default" },
  };
  const kept: [type: string, given: object, wanted: object][] = [
    ["llama", { rope_parameters: { rope_theta: 5e5, rope_type: "default" } }, { rope_theta: 5e5 }],
    ["llama", { rope_theta: 5, rope_parameters: { rope_theta: 5.0 } }, { rope_theta: 5 }],
    ["llama", { rope_scaling: null, rope_parameters: null }, { rope_scaling: null }],
    [
      "llama",
      { rope_parameters: { rope_theta: 5, rope_type: "llama3", ...llama3 } },
      { rope_theta: 5, rope_scaling: { rope_type: "llama3", ...llama3 } },
    ],
    [
      "gpt_neox",
      { rope_parameters: { rope_theta: 5, partial_rotary_factor: 0.5 } },
      { rotary_emb_base: 5, rotary_pct: 0.5 },
    ],
    [
      "stablelm",
      { rope_parameters: { rope_theta: 5, partial_rotary_factor: 0.5 } },
      { rope_theta: 5, partial_rotary_factor: 0.5 },
    ],
    ["gemma3_text", { rope_parameters: local }, { rope_theta: 5, rope_local_base_freq: 7 }],
  ];
  const of = (type: string, more: object) => clean({ "config.json": { model_type: type, ...more } });
  for (const version of [{}, { transformers_version: "5.24.0" }])
    for (const [type, given, wanted] of kept) {
      const { admission, json } = of(type, { ...given, ...version });
      assert.deepEqual([admission.reasons, admission.undecided], [[], undefined], JSON.stringify(given));
      assert.deepEqual(json("config.json"), { model_type: type, ...wanted });
    }
  const part = clean({
    "config.json": {
      model_type: "gemma3",
      text_config: { model_type: "gemma3_text", rope_parameters: local },
    },
  });
  assert.equal(part.json("config.json").text_config.rope_local_base_freq, 7);
  const open: [type: string, given: object][] = [
    ["llama", { rope_parameters: { rope_theta: 5, rope_type: "of_tomorrow" } }],
    ["llama", { rope_parameters: { rope_theta: 5, new_number: 3 } }],
    ["llama", { rope_parameters: 3 }],
    ["llama", { rope_parameters: local }],
    ["llama", { rope_theta: 6, rope_parameters: { rope_theta: 5 } }],
    [
      "llama",
      { rope_scaling: { type: "linear", factor: 2 }, rope_parameters: { rope_type: "linear", factor: 4 } },
    ],
    ["modernbert-decoder", { rope_parameters: { rope_theta: 5 } }],
  ];
  for (const [type, given] of open)
    assert.match(
      details(of(type, given).admission.undecided).join(),
      /"rope_parameters"/,
      JSON.stringify(given),
    );
  const hostile = { rope_parameters: { rope_type: "linear", factor: "/etc/passwd" } };
  assert.equal(of("llama", hostile).admission.reasons[0]?.code, "config");
});

test("infinity in the form of transformers 5 stays infinity for Python", () => {
  const { admission, text } = clean({
    "config.json": {
      model_type: "mamba2",
      time_step_limit: [{ __float__: "-Infinity" }, { __float__: "Infinity" }],
    },
  });
  assert.deepEqual(admission.reasons, []);
  assert.match(text("config.json"), /"time_step_limit": \[\s*-1e999,\s*1e999\s*\]/);
  for (const value of [{ __float__: "/etc" }, { __float__: "Infinity", more: 1 }])
    assert.equal(config({ layer_norm_epsilon: value }).admission.reasons[0]?.code, "config");
});

test("a setting of another type than this version reads is the agent's fault, unless a later version wrote the file", () => {
  for (const more of [
    { n_layer: "two" },
    { n_layer: { text: 2 } },
    { layer_norm_epsilon: "small" },
    { activation_function: { kind: "gelu" } },
  ]) {
    assert.equal(config(more).admission.reasons[0]?.code, "config", JSON.stringify(more));
    const later = config({ ...more, transformers_version: "5.24.0" });
    assert.deepEqual([later.admission.admitted, later.admission.undecided?.length], [true, 1]);
    for (const [key, value] of Object.entries(more))
      assert.notDeepEqual(later.json("config.json")[key], value);
  }
  const path = config({ n_layer: { text: "/etc/passwd" }, transformers_version: "5.24.0" }).admission;
  assert.equal(path.reasons[0]?.code, "config");
});

test("what transformers 5 adds to settings without a change of the model is no reason to leave them open", () => {
  const version = { transformers_version: "5.24.0" };
  const open = (more: object) =>
    details(clean({ "config.json": { ...version, ...more } }).admission.undecided).join();
  assert.equal(open({ model_type: "mamba", use_associative_scan: true }), "");
  assert.equal(open({ model_type: "t5", tie_word_embeddings: true, scale_decoder_outputs: true }), "");
  assert.equal(open({ model_type: "t5", tie_word_embeddings: false, scale_decoder_outputs: false }), "");
  assert.match(open({ model_type: "t5", scale_decoder_outputs: false }), /scale_decoder_outputs/);
  assert.equal(open({ model_type: "qwen2", layer_types: ["full_attention"] }), "");
  assert.match(
    open({ model_type: "qwen2", layer_types: ["of_tomorrow"] }),
    /"layer_types" names a kind of layer/,
  );
});

test("a type that no scorer loads is refused, and one that is missing leaves no settings", () => {
  for (const type of ["mbart", "fsmt", "vit", "../llama", "__proto__", "constructor", 7])
    assert.match(
      details(clean({ "config.json": { model_type: type } }).admission.reasons).join(),
      /model_type is (.*no encoder-decoder and no causal language model|"mbart", which starts its decoder|"fsmt", which never gives|no text)/,
    );
  assert.deepEqual(clean({ "config.json": { vocab_size: 3 } }).json("config.json"), {});
});

test("an encoder-decoder keeps the settings of both parts", () => {
  const t5 = { model_type: "t5", num_layers: 1, num_decoder_layers: 2, decoder_start_token_id: 0 };
  const { admission, json } = clean({ "config.json": { ...t5, is_encoder_decoder: true, n_positions: 512 } });
  assert.deepEqual(details(admission.reasons), []);
  assert.deepEqual(json("config.json"), { ...t5, is_encoder_decoder: true, n_positions: 512 });
  const deep = clean({ "config.json": { ...t5, num_decoder_layers: 1e6 } }).admission;
  assert.match(details(deep.reasons).join(), /"num_decoder_layers" is 1000000; these weights allow at most/);
});

test("numbers that the weights cannot back are refused with what the weights hold", () => {
  const cases: [object, RegExp][] = [
    [{ n_layer: 3 }, /"n_layer" is 3; the weights hold 2 tensors/],
    [{ num_hidden_layers: 1e9 }, /"num_hidden_layers" is 1000000000; the weights hold 2/],
    [{ vocab_size: 17 }, /"vocab_size" is 17; the largest dimension of a tensor is 16/],
    [{ n_positions: 2 ** 30 }, /"n_positions" is 1073741824; at most/],
    [{ n_head: 100_000 }, /"n_head" is 100000; these weights allow at most 1024/],
    [{ n_inner: 2 ** 40 }, /"n_inner" is 1099511627776; at most/],
  ];
  for (const [more, wanted] of cases) assert.match(details(config(more).admission.reasons).join(), wanted);
  assert.deepEqual(
    config({ n_positions: 10_485_760, eos_token_id: [1, 2], n_head: 512 }).admission.reasons,
    [],
  );
});

test("odd names of settings reach no prototype", () => {
  const text = '{"model_type":"gpt2","__proto__":{"x":"/etc"},"constructor":"/etc","toString":1}';
  const { admission, json } = clean({ "config.json": text });
  assert.deepEqual(Object.keys(json("config.json")), ["model_type"]);
  assert.deepEqual(dropped(admission), ["__proto__", "constructor", "toString"]);
});

test("a vocabulary that is a link is not copied", () => {
  const folder = mkdtempSync(join(root, "l-"));
  mkdirSync(join(folder, "clean"));
  symlinkSync("/etc/passwd", join(folder, "vocab.txt"));
  writeCleanSubmission(folder, join(folder, "clean"));
  assert.deepEqual(readdirSync(join(folder, "clean")), []);
});

test("a tokenizer that transformers saved is known by the name without Fast", () => {
  for (const name of ["GPTNeoX", "Gemma", "CodeLlama", "Cohere", "XGLM", "Bloom", "Albert", "Camembert"]) {
    const { admission } = clean({ "tokenizer_config.json": { tokenizer_class: `${name}Tokenizer` } });
    assert.deepEqual([details(admission.undecided), details(admission.reasons)].flat(), [
      ...details(clean({ "tokenizer_config.json": { tokenizer_class: "GPT2Tokenizer" } }).admission.reasons),
    ]);
  }
});
