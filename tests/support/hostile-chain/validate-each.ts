// Runs the script of the stage `validate` on every folder of MLRB_TEST_FOLDERS, inside the walls of one stage:
//   node --expose-gc validate-each.ts
// One process judges all folders, since starting Node 400 times would take minutes. So the peak of its memory is reset
// before each folder, and what earlier folders left counts too.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";

/** One line of `validated.jsonl`. `failed`: the stage would have failed with this text. */
export type Validated = {
  name: string;
  cpuMs: number;
  peakBytes: number;
  readBytes: number;
  failed?: string;
};

const work = process.env.MLRB_WORK!;
const folders = process.env.MLRB_TEST_FOLDERS!;
const script = pathToFileURL(resolve("pipelines/steps/validate.ts")).href;

const rules = [
  { name: "fresh", title: "t", method: "from-scratch", source: "official", severity: "strike" },
  { name: "time", title: "t", method: "time-within-budget", source: "official", severity: "strike" },
  {
    ...{ name: "size", title: "t", method: "parameters-max", source: "official", severity: "strike" },
    with: { max: 1_000_000_000 },
  },
  {
    ...{ name: "data", title: "t", method: "provenance-data", source: "official", severity: "strike" },
    with: { allowed: ["brown"] },
  },
];

function counted(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, "utf8"))![1]);
}

async function validate(name: string, at: number): Promise<Validated> {
  const out = join(work, "out", name);
  mkdirSync(join(out, "submission"), { recursive: true });
  const given = join(work, "tmp/given");
  const inputs = { submission: join(folders, name), trajectory: join(given, "trajectory") };
  const others = ["public", "private", "ledger"].map((one) => [one, join(given, one)] as const);
  process.argv.splice(2);
  for (const [one, path] of [...Object.entries(inputs), ...others])
    process.argv.push("--input", `${one}=${path}`);
  for (const one of ["admission", "verdict", "fingerprint"])
    process.argv.push("--output", `${one}=${join(out, `${one}.json`)}`);
  process.argv.push("--output", `submission=${join(out, "submission")}`, "--budget", "time=10m");
  process.argv.push("--param", "data=smoke", "--param", `rules=${JSON.stringify(rules)}`);
  gc!();
  writeFileSync("/proc/self/clear_refs", "5");
  const [cpu, read] = [process.cpuUsage(), counted("/proc/self/io", /^rchar: (\d+)$/m)];
  let failed: string | undefined;
  try {
    await import(`${script}?${at}`); // a new address runs the script again
  } catch (error) {
    failed = (error as Error).stack ?? String(error);
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    name,
    cpuMs: (user + system) / 1000,
    peakBytes: counted("/proc/self/status", /^VmHWM:\s+(\d+) kB$/m) * 1024,
    readBytes: counted("/proc/self/io", /^rchar: (\d+)$/m) - read,
    ...(failed !== undefined && { failed }),
  };
}

const given = join(work, "tmp/given");
for (const name of ["public", "private"]) mkdirSync(join(given, name), { recursive: true });
writeFileSync(join(given, "trajectory"), "");
writeFileSync(join(given, "ledger"), JSON.stringify(exampleLedger()));
const seen = { file: existsSync(process.env.MLRB_TEST_OUTSIDE!), variables: Object.keys(process.env).sort() };
writeFileSync(join(work, "out/sight.json"), JSON.stringify(seen));
for (const [at, name] of readdirSync(folders).sort().entries()) {
  console.log(`validate ${name}`);
  appendFileSync(join(work, "out/validated.jsonl"), `${JSON.stringify(await validate(name, at))}\n`);
}
