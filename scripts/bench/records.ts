// Many records of attempts: one attempt is run, and its record is written again and again for other slots.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { canonicalJson } from "@mlrb/kit/json-file";
import { pipeline } from "./tools.ts";

/** Makes a state with `count` records, of which one is of the pipeline. Only the first has output files. */
export function writeRecords(
  count: number,
  { work, pipelines }: { work: string; pipelines: string },
): { file: string; root: string } {
  const name = `bench-records-${count}`;
  const [file, root] = [join(pipelines, `${name}.yaml`), join(work, name)];
  writeFileSync(
    file,
    `formatVersion: 1
name: ${name}
axes: { seed: [1] }
stages:
  attempt: { each: [seed], durable: true, command: "echo {seed} > {outputs.s}", gives: { s: file } }
  report: { collect: [attempt.s], command: "wc -c < {inputs.manifest} > {outputs.r}", gives: { r: file } }
`,
  );
  pipeline("run", file, "--root", root);
  const records = join(root, ".mlrb/attempts/records");
  const first = readdirSync(records).find((entry) => /^[0-9a-f]{64}$/.test(entry))!;
  const record = JSON.parse(readFileSync(join(records, first, "record.json"), "utf8")) as AttemptRecord;
  for (let index = 1; index < count; index++) {
    const slot = { ...record.slot, pipeline: `other-${index % 10}`, stage: `attempt[seed=${index}]` };
    const attemptKey = createHash("sha256").update(String(index)).digest("hex");
    const text = `${canonicalJson({ ...record, slot, attemptKey, axes: { seed: index } }, 2)}\n`;
    const folder = join(records, createHash("sha256").update(text).digest("hex"));
    mkdirSync(folder);
    writeFileSync(join(folder, "record.json"), text);
  }
  return { file, root };
}
