// Scorers by lm-eval against plain lm-eval, on a sample of items like the official ones (lm_eval_parts.py). Two
// sizes of the sample give the seconds for each config and for each item, and so those of all items.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensureEnvironment } from "../ensure-environment.ts";
import { mlLock } from "./score-jobs.ts";
import { type Bench, run } from "./tools.ts";

/** Processor seconds on a sample: `load` of loading the model, `forward` inside it, `causality` of the check. */
type Part = {
  items: number;
  scorer: number;
  plain: number;
  load: number;
  forward: number;
  /** Tokens that the model reads, and those left if each beginning that rows share were read once. */
  tokens: number;
  distinct: number;
  causality?: number;
};
type Samples = readonly [Part, Part];

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
  const floors: { sum: number; floor: number }[] = [];
  for (const [scorer, all] of Object.entries(officialItems)) {
    const parts = [small![scorer]!, large![scorer]!] as const;
    floors.push({ sum: extrapolated("scorer", all, parts), floor: sharedFloor(all, parts) });
    const other = extrapolated("plain", all, parts);
    row(`${scorer}, ${all} items, extrapolated from ${parts[1].items}`, extrapolated("scorer", all, parts), {
      against: `plain lm-eval, ${other.toFixed(1)} s (${(parts[0].scorer / parts[0].plain).toFixed(2)} on ${parts[0].items} items)`,
      other,
      target: 1.1,
    });
    if (parts[0].causality === undefined) continue;
    row(`${scorer}, causality check, extrapolated`, extrapolated("causality", all, parts), {
      against: `plain lm-eval (${(parts[0].causality / parts[0].plain).toFixed(2)} on ${parts[0].items} items)`,
      other,
    });
  }
  const sum = floors.reduce((total, { sum }) => total + sum, 0);
  const floor = floors.reduce((total, { floor }) => total + floor, 0);
  const against = "their sum: each score loads and reads by itself";
  row(`${Object.keys(officialItems).join(" and ")} of one model`, sum, { against, other: sum, target: 0.6 });
  row("lower bound, with weights and beginnings of rows read once", floor, {
    against: "their sum",
    other: sum,
  });
}

/** The seconds of `all` items if loading took none and the model read every distinct beginning of rows once. */
export function sharedFloor(all: number, parts: Samples): number {
  const { load, tokens, distinct } = parts[1];
  const saved = extrapolated("forward", all, parts) * (1 - distinct / tokens);
  return extrapolated("scorer", all, parts) - saved - load;
}

/** The seconds of `all` items, on the line through both samples. */
export function extrapolated(
  of: "scorer" | "plain" | "forward" | "causality",
  all: number,
  [small, large]: Samples,
): number {
  const most = large[of]!;
  const each = (most - small[of]!) / (large.items - small.items);
  return most + each * (all - large.items);
}

/** `text`: what lm_eval_parts.py printed. */
export function readParts(text: string): Record<string, Part> {
  return JSON.parse(/^lm-eval: (.*)$/m.exec(text)![1]!) as Record<string, Part>;
}
