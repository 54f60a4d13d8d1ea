// The limits on what is read from strangers: submissions, checkpoints, trajectories, ledgers and declarations.
// Each limit is checked before the bytes are parsed, so that reading any folder takes less than 512 MiB of memory.
// The limits come from published models; `honest` says what those have, and every refusal repeats it. The sizes of
// indexes were computed from transformers' default configurations; the other figures were not checked again here.
// Python reads the same bytes later, with the limits in runners/kit/python/mlrb_kit/reading_limits.py.

export type ReadingLimit = { max: number; unit: string; honest: string };

const MiB = 1 << 20;

export const readingLimits = {
  /** Entries of a submission's folder that are counted; those of folders in it are not looked at. */
  entries: { max: 100_000, unit: "files and folders", honest: "a model has under 300" },

  /** config.json, tokenizer_config.json and the like. */
  settingsBytes: { max: 4 * MiB, unit: "bytes", honest: "settings have under 1 MB" },
  settingsValues: { max: 500_000, unit: "values", honest: "settings have under 100 000" },
  jsonDepth: { max: 64, unit: "levels of nesting", honest: "a model's files have under 12" },
  jsonTextBytes: { max: MiB, unit: "bytes in one text", honest: "the longest text, a charsmap, has 320 KB" },
  jsonNumberChars: { max: 100, unit: "characters in one number", honest: "numbers have under 35" },

  /** tokenizer.json, vocab.json, vocab.txt, merges.txt. */
  tokenizerBytes: { max: 96 * MiB, unit: "bytes", honest: "XLM-V's 901 629 words take about 60 MB" },
  tokenizerValues: { max: 8_000_000, unit: "values", honest: "XLM-V's tokenizer has under 3 million" },
  pieceModelBytes: { max: 32 * MiB, unit: "bytes", honest: "XLM-V's sentencepiece model has 18 MB" },
  words: { max: 1_000_000, unit: "words", honest: "the largest published vocabulary, XLM-V's, has 901 629" },
  merges: { max: 1_000_000, unit: "merges", honest: "Gemma's tokenizer has 580 604" },

  /** Of one safetensors file, and of all shards together. */
  headerBytes: {
    max: 8 * MiB,
    unit: "bytes of header",
    honest: "a file of a published model has under 1 MB",
  },
  headersBytes: { max: 16 * MiB, unit: "bytes of headers in all shards", honest: "DeepSeek-V3 has 10 MB" },
  headerValues: { max: 2_000_000, unit: "values", honest: "100 000 tensors have a million" },
  headerDepth: { max: 8, unit: "levels of nesting", honest: "a header has 3" },
  tensors: { max: 100_000, unit: "tensors", honest: "DeepSeek-V3, with 671 billion parameters, has 91 991" },
  tensorNameBytes: { max: 1024, unit: "bytes in the name of a tensor", honest: "names have under 150" },
  shards: { max: 1000, unit: "shards", honest: "the largest published models have under 200" },
  indexBytes: {
    max: 16 * MiB,
    unit: "bytes",
    honest: "the index of transformers' default Qwen3-Next has 6.8 MB, of DeepSeek-V3 4.1 MB",
  },
  /** Of one shape and attempt. Pairs of attempts are compared in the square of this. */
  comparedMatrices: {
    max: 512,
    unit: "matrices of one shape",
    honest: "dense models have under 300; of one with many experts only a part is compared",
  },

  provenanceBytes: { max: MiB, unit: "bytes", honest: "a declaration has a few KB" },
  provenanceValues: { max: 50_000, unit: "values", honest: "a declaration has under 100" },
  ledgerBytes: { max: MiB, unit: "bytes", honest: "a ledger has a few KB" },
  snapshotIndexBytes: { max: 16 * MiB, unit: "bytes", honest: "the index of 100 snapshots has 20 KB" },
  /** The supervisor moves longer texts to attachments. */
  trajectoryLineBytes: { max: 4 * MiB, unit: "bytes in one line", honest: "a supervisor writes under 1 MB" },
  /** A text that was too long for its line; longer ones keep only their beginning. */
  attachmentBytes: { max: 64 * MiB, unit: "bytes", honest: "a supervisor writes no longer ones" },
  /** adjudications.jsonl in a folder that another machine exported. */
  adjudicationsBytes: { max: 16 * MiB, unit: "bytes", honest: "a decision has under 2 KB" },
  /** record.json in a folder that another machine exported. */
  recordBytes: { max: 16 * MiB, unit: "bytes", honest: "a record has under 100 KB" },
  /** The log in such a folder. */
  recordLogBytes: { max: 256 * MiB, unit: "bytes", honest: "a log is cut to 64 MiB when its attempt ends" },

  /** Of admission: reasons of one code, and the characters of each. */
  reasonsPerCode: { max: 20, unit: "reasons of one code", honest: "one is enough" },
  reasonChars: { max: 1000, unit: "characters in one reason", honest: "reasons have under 300" },
} as const satisfies Record<string, ReadingLimit>;

/** A refusal in words: what was found, the limit, and what honest files have. */
export function overLimit({ max, unit, honest }: ReadingLimit, found?: number | bigint): string {
  const have = found === undefined ? `more than ${max} ${unit}` : `${found} ${unit}; at most ${max} are read`;
  return `${have} (${honest})`;
}
