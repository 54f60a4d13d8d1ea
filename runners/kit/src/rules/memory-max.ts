// Whether a submission can fit a memory limit, estimated from its files. The scorer net-peak-bytes measures it.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { readJsonFile } from "../admission/admission-files.ts";
import { describeWeights } from "./describe-weights.ts";
import { notAdmitted, type RuleMethod } from "./rule-method.ts";

const configMax = 1 << 20;

/**
 * The weights and the logits of one pass over `tokens` tokens are in memory together: over `bytes` the submission cannot
 * fit. Under half of `bytes` the rest (activations, keys and values) fits too; in between only a measurement decides.
 */
export const memoryMax: RuleMethod = {
  problem({ bytes, tokens, ...others }) {
    const whole = [bytes, tokens].every((value) => Number.isSafeInteger(value) && (value as number) > 0);
    if (whole && Object.keys(others).length === 0) return undefined;
    return `takes { bytes: whole number, tokens: whole number }, got ${JSON.stringify({ bytes, tokens, ...others })}`;
  },
  decide({ folder, weights }, given) {
    if (!weights) return notAdmitted;
    const [bytes, tokens] = [given.bytes as number, given.tokens as number];
    const read = readJsonFile(join(folder, "config.json"), configMax);
    const vocabulary = read.kind === "ok" && isTable(read.value) ? read.value.vocab_size : undefined;
    const stored = describeWeights(weights).bytes;
    if (!Number.isSafeInteger(vocabulary) || (vocabulary as number) < 1)
      return { answer: "cannot-tell", evidence: "config.json names no vocab_size" };
    const width = Math.min(4, Math.max(2, ...weights.flatMap(({ tensors }) => tensors.map(valueBytes))));
    const logits = tokens * (vocabulary as number) * width;
    const sum = `${stored} bytes of weights and ${logits} of logits at ${tokens} tokens; the limit is ${bytes}`;
    if (stored + logits > bytes) return { answer: "fail", evidence: sum };
    if ((stored + logits) * 2 <= bytes) return { answer: "pass", evidence: sum };
    return { answer: "cannot-tell", evidence: `${sum}; see the measured peak` };
  },
};

function valueBytes({ begin, end, size }: { begin: number; end: number; size: number }): number {
  return size > 0 ? (end - begin) / size : 0;
}
