// What becomes of honest folders that are not simply scored, each with the reason that users read in
// docs/agents.md and docs/security.md.
export const documented: Record<string, { fate: "undecided" | "baseline" | "refused"; reason: string }> = {
  "family-bert": { fate: "refused", reason: "an encoder family: it predicts with later text" },
  mbart: { fate: "refused", reason: "its decoder starts with the last label, which gives the answer away" },
  "bin-alone": { fate: "refused", reason: "a pickle can run code: weights are safetensors" },
  gguf: { fate: "refused", reason: "weights are safetensors" },
  "own-type-auto-map": { fate: "refused", reason: "a type that only its own code knows" },
  "peft-adapter": { fate: "refused", reason: "an adapter without its base: merge it" },
  "sharded-no-index": { fate: "refused", reason: "shards without their index: no loader finds them" },
  "trainer-checkpoints-only": { fate: "refused", reason: "no model at the top of the folder" },
  "linked-weights": { fate: "refused", reason: "links are not followed: cp -L" },
  quantised: { fate: "undecided", reason: "quantisation settings that the loaders do not apply" },
  "five-yarn-llama": {
    fate: "undecided",
    reason: "transformers 5 and the installed version scale YaRN differently",
  },
  "layer-types-of-five": {
    fate: "undecided",
    reason: "words of transformers 5 that the installed version lacks",
  },
  "head-trained-apart": { fate: "undecided", reason: "config.json says tied, and the stored head differs" },
  "uncased-word-pieces": {
    fate: "baseline",
    reason: "bits per byte: the prompt asks that decoding gives the text back",
  },
  "unigram-metaspace": { fate: "baseline", reason: "the same: NFKC changes characters" },
  "t5-of-pieces": { fate: "baseline", reason: "the same: NFKC changes characters" },
  "word-pieces": { fate: "baseline", reason: "the same: pieces of words lose the spaces beside signs" },
  "whole-words": { fate: "baseline", reason: "docs/measures.md: parts of the scored text have no token" },
  "sentencepiece-only": { fate: "baseline", reason: "its library is not installed: save tokenizer.json" },
};
