// Whether a submission can fit a memory limit, estimated from its files. The scorer net-peak-bytes measures it.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { readJsonFile, settingsLimits } from "../admission/admission-files.ts";
import type { Tensor } from "../safetensors/safetensors.ts";
import { describeWeights } from "./describe-weights.ts";
import { notAdmitted, type RuleMethod } from "./rule-method.ts";

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
    const read = readJsonFile(join(folder, "config.json"), settingsLimits);
    const vocabulary = read.kind === "ok" && isTable(read.value) ? read.value.vocab_size : undefined;
    const stored = describeWeights(weights).bytes;
    if (!Number.isSafeInteger(vocabulary) || (vocabulary as number) < 1)
      return { answer: "undecided", evidence: "config.json names no vocab_size" };
    const widest = weights.flatMap(({ tensors }) => tensors).reduce(widestValue, 2);
    const width = Math.min(4, widest);
    const logits = tokens * (vocabulary as number) * width;
    const sum = `estimated from the files: ${stored} bytes of weights and ${logits} of logits at ${tokens} tokens; the limit is ${bytes}`;
    if (stored + logits > bytes) return { answer: "fail", evidence: sum };
    if ((stored + logits) * 2 <= bytes) return { answer: "pass", evidence: sum };
    return { answer: "undecided", evidence: `${sum}; see the measured peak` };
  },
};

/** Bytes per value; a list of strangers is too long for the arguments of Math.max. */
function widestValue(widest: number, { begin, end, size }: Tensor): number {
  return size > 0 ? Math.max(widest, (end - begin) / size) : widest;
}
