// Scorers by lm-eval against plain lm-eval, on a sample of items like the official ones (lm_eval_parts.py). Two sizes of
// the sample give the seconds for each config and for each item, and so those of all items.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensureEnvironment } from "../ensure-environment.ts";
import { mlLock } from "./score-jobs.ts";
import { type Bench, run } from "./tools.ts";

/** Processor seconds on a sample. */
type Part = { items: number; scorer: number; plain: number };

const shares = [0.02, 0.04];
const officialItems: Record<string, number> = { blimp: 67_000, mmlu: 14_042 };

export async function benchLmEval({ work, row }: Bench): Promise<void> {
  const python = await ensureEnvironment(mlLock);
  const [data, tokenizer, model] = ["public", "tokenizer.json", "model"].map((name) => join(work, name));
  mkdirSync(data!);
  const outputs = [`--output=public=${data}`, `--output=private=${join(work, "private")}`];
  run(process.execPath, ["tasks/baby-lm/data.ts", "--param=source=smoke", ...outputs]);
  const makeModel = ["scripts/bench/model.py"];
  run(python, [...makeModel, `--input=public=${data}`, `--output=tokenizer=${tokenizer}`]);
  const shape = ["--param=seed=1", "--param=width=128", "--param=layers=2"];
  run(python, [...makeModel, ...shape, `--input=tokenizer=${tokenizer}`, `--output=model=${model}`]);
  const inputs = ["--param=rounds=3", `--input=submission=${model}`, `--input=public=${data}`];
  const [small, large] = shares.map((share) =>
    readParts(run(python, ["scripts/bench/lm_eval_parts.py", `--param=share=${share}`, ...inputs])),
  );
  for (const [scorer, all] of Object.entries(officialItems)) {
    const parts = [small![scorer]!, large![scorer]!] as const;
    const other = extrapolated("plain", all, parts);
    row(`${scorer}, ${all} items, extrapolated from ${parts[1].items}`, extrapolated("scorer", all, parts), {
      against: `plain lm-eval, ${other.toFixed(1)} s (${(parts[0].scorer / parts[0].plain).toFixed(2)} on ${parts[0].items} items)`,
      other,
      target: 1.1,
    });
  }
}

/** The seconds of `all` items, on the line through both samples. */
export function extrapolated(
  of: "scorer" | "plain",
  all: number,
  [small, large]: readonly [Part, Part],
): number {
  const each = (large[of] - small[of]) / (large.items - small.items);
  return large[of] + each * (all - large.items);
}

/** `text`: what lm_eval_parts.py printed. */
export function readParts(text: string): Record<string, Part> {
  return JSON.parse(/^lm-eval: (.*)$/m.exec(text)![1]!) as Record<string, Part>;
}
