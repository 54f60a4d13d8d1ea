// Runs the script of the stage `validate` or `verdict` on every folder of MLRB_TEST_FOLDERS, inside the walls of
// one stage:
//   node --expose-gc judge-each.ts validate
// One process judges all folders, since starting Node 400 times would take minutes. So the peak of its memory is
// reset before each folder, and what earlier folders left counts too.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";

/** One line of `judged.jsonl`. `failed`: the stage would have failed with this text. */
export type Judged = {
  name: string;
  cpuMs: number;
  peakBytes: number;
  readBytes: number;
  failed?: string;
};

const work = process.env.MLRB_WORK!;
const folders = process.env.MLRB_TEST_FOLDERS!;
const step = process.argv[2] as "validate" | "verdict";
const script = pathToFileURL(resolve(`pipelines/steps/${step}.ts`)).href;

const rules = [
  { name: "fresh", title: "t", method: "from-scratch", source: "official", severity: "disqualify" },
  { name: "time", title: "t", method: "time-within-budget", source: "official", severity: "disqualify" },
  {
    ...{ name: "size", title: "t", method: "parameters-max", source: "official", severity: "disqualify" },
    with: { max: 1_000_000_000 },
  },
  {
    ...{ name: "data", title: "t", method: "provenance-data", source: "official", severity: "disqualify" },
    with: { allowed: ["brown"] },
  },
];

function counted(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, "utf8"))![1]);
}

/** What the pipeline gives to the stage. */
function flags(name: string): string[] {
  const given = join(work, "tmp/given");
  const inputs: Record<string, string> = {
    submission: join(folders, name),
    ledger: join(given, "ledger"),
    ...(step === "verdict" && {
      trajectory: join(given, "trajectory"),
      admission: join(work, "in/loaded", `${name}.json`),
    }),
  };
  const outputs = step === "validate" ? ["admission", "fingerprint"] : ["verdict"];
  const out = join(work, "out", name);
  return [
    ...Object.entries(inputs).flatMap(([one, path]) => ["--input", `${one}=${path}`]),
    ...outputs.flatMap((one) => ["--output", `${one}=${join(out, `${one}.json`)}`]),
    ...(step === "validate"
      ? ["--output", `submission=${join(out, "submission")}`]
      : ["--budget", "time=10m", "--param", "data=smoke", "--param", `rules=${JSON.stringify(rules)}`]),
  ];
}

async function judge(name: string, at: number): Promise<Judged> {
  mkdirSync(join(work, "out", name, ...(step === "validate" ? ["submission"] : [])), { recursive: true });
  process.argv.splice(2, Infinity, ...flags(name));
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
mkdirSync(given, { recursive: true });
writeFileSync(join(given, "trajectory"), "");
writeFileSync(join(given, "ledger"), JSON.stringify(exampleLedger()));
const seen = { file: existsSync(process.env.MLRB_TEST_OUTSIDE!), variables: Object.keys(process.env).sort() };
writeFileSync(join(work, "out/sight.json"), JSON.stringify(seen));
for (const [at, name] of readdirSync(folders).sort().entries()) {
  console.log(`${step} ${name}`);
  appendFileSync(join(work, "out/judged.jsonl"), `${JSON.stringify(await judge(name, at))}\n`);
}
