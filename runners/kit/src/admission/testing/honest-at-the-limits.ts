// A model with a million words, a million merges, 80 000 tensors and settings of 4 MB: nothing honest is larger.
import { fileOf } from "../../safetensors/testing/safetensors-bytes.ts";
import { listed, withFiles } from "./hostile-case.ts";

const million = 1_000_000;
const empty = '{"dtype":"F16","shape":[0,1],"data_offsets":[0,0]}';
const name = (at: number) => `layers.${at}.mlp.experts.up_proj.weight`;

export const honestAtTheLimits = withFiles("honest-at-the-limits", [], () => {
  const vocabulary = listed(million, (at) => `"word-${at}":${at}`);
  const merges = listed(million, (at) => `["w","${at}"]`);
  const texts = listed(100_000, (at) => `"${at}":{"content":"<unused_${at}>"}`);
  return {
    "tokenizer.json": `{"added_tokens":[],"model":{"type":"BPE","vocab":{${vocabulary}},"merges":[${merges}]}}`,
    "vocab.json": `{${vocabulary}}`,
    "tokenizer_config.json": `{"added_tokens_decoder":{${texts}}}`,
    "vocab.txt": "word-123456\n".repeat(million),
    "merges.txt": "w 123456\n".repeat(million),
    "model.safetensors": fileOf(`{${listed(80_000, (at) => `"${name(at)}":${empty}`)}}`, Buffer.alloc(0)),
  };
});
