// The short form of the bench: processor time of the runner's steps as ratios to that of a reference in the same
// run. Other work on the machine hardly changes them. A thorough test fails when one grows by more than half over
// ratios.json.
//   npx -y pnpm@10.34.9 bench --short            prints the ratios
//   npx -y pnpm@10.34.9 bench --short --renew    also writes them to ratios.json
import { hash, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Store } from "@mlrb/local/store/artifact-store";
import { ingest } from "@mlrb/local/store/ingest-outputs";
import { VerifiedContents } from "@mlrb/local/store/verified-contents";
import { pipelineText } from "./graphs.ts";
import { readSamples, writeReportInputs } from "./report.ts";
import { median, pipelineArguments, run, usage } from "./tools.ts";

/** `ratios`: processor time of a step divided by that of its reference, by name. */
type Ratios = { formatVersion: 1; measuredOn: string; renew: string; ratios: Record<string, number> };

const ratiosFile = join(import.meta.dirname, "ratios.json");
export const growthMax = 1.5;
/** How to accept a growth. */
export const renewCommand = "npx -y pnpm@10.34.9 bench --short --renew";
const tasks = 10;
const stages = tasks * 31 + 2;
const smallFiles = 1_000;
const items = 200;

type Folders = { work: string; pipelines: string };

/** `work` and `pipelines` are empty folders; the second is in the repository. Takes about half a minute. */
export async function shortRatios({ work, pipelines }: Folders): Promise<Record<string, number>> {
  return { ...runRatios({ work, pipelines }), ...(await ingestRatio(work)), ...reportRatio(work) };
}

export function writeRatios(ratios: Record<string, number>): void {
  const rounded = Object.entries(ratios).map(([name, ratio]) => [name, Number(ratio.toPrecision(3))]);
  const file: Ratios = {
    formatVersion: 1,
    measuredOn: new Date().toISOString().slice(0, 10),
    renew: renewCommand,
    ratios: Object.fromEntries(rounded),
  };
  writeFileSync(ratiosFile, `${JSON.stringify(file, null, 2)}\n`);
}

export function readRatios(): Record<string, number> {
  return (JSON.parse(readFileSync(ratiosFile, "utf8")) as Ratios).ratios;
}

/** The ratios that grew by more than `growthMax`, and those without a stored one, in words. */
export function grown(now: Record<string, number>, ratios: Record<string, number>): string[] {
  return Object.entries(now).flatMap(([name, ratio]) => {
    const stored = ratios[name];
    if (stored === undefined) return [`${name}: ${ratio.toFixed(2)}, and ratios.json has none`];
    if (ratio <= growthMax * stored) return [];
    return [`${name}: ${ratio.toFixed(2)}, over ${growthMax} × ${stored}`];
  });
}

/** A graph of 312 stages: cold, without work, planned and edited. */
function runRatios({ work, pipelines }: Folders): Record<string, number> {
  const [file, root] = [join(pipelines, "short.yaml"), join(work, "short")];
  const edit = (text: number) => writeFileSync(file, pipelineText("short", tasks, text));
  const cli = (...words: string[]) => usage(process.execPath, pipelineArguments([...words, "--root", root]));
  const cpu = (times: number, one: (turn: number) => { cpuSeconds: number }) =>
    median(Array.from({ length: times }, (_, turn) => one(turn).cpuSeconds));
  edit(0);
  const cold = cli("run", file, "--json");
  const { cpuMs } = JSON.parse(cold.printed.trimEnd().split("\n").at(-1)!) as { cpuMs: number };
  const files = join(work, "files");
  mkdirSync(files);
  const alone = `seq ${stages} | xargs -P2 -I{} sh -c 'echo {} > ${files}/{}'`;
  const processes = cpu(3, () => usage("sh", ["-c", alone]));
  const empty = cpu(9, () => usage(process.execPath, ["-e", "0"]));
  cli("run", file);
  const plan = (turn: number) => {
    edit(turn + 100);
    return cli("plan", file);
  };
  const edited = (turn: number) => {
    edit(turn + 1);
    return cli("run", file);
  };
  return {
    "cold run, the runner's own ÷ the same processes by xargs": cpuMs / 1000 / processes,
    "no-op ÷ an empty Node": cpu(5, () => cli("run", file)) / empty,
    "plan after an edit ÷ an empty Node": cpu(3, plan) / empty,
    "one edit ÷ an empty Node": cpu(3, edited) / empty,
  };
}

/** Small files into the store, against hashing and linking them. */
async function ingestRatio(work: string): Promise<Record<string, number>> {
  const blobs = join(work, "blobs");
  mkdirSync(blobs);
  const context = { store: new Store(blobs), verified: new VerifiedContents(work) };
  const all: number[] = [];
  for (let round = 0; round < 3; round++) {
    const [folder, linked] = [join(work, `small-${round}`), join(work, `linked-${round}`)];
    for (const path of [folder, linked]) mkdirSync(path);
    for (let index = 0; index < smallFiles; index++)
      writeFileSync(join(folder, String(index)), randomBytes(4096));
    const least = await cpuSeconds(() => {
      for (const name of readdirSync(folder)) {
        hash("sha256", readFileSync(join(folder, name)));
        linkSync(join(folder, name), join(linked, name));
      }
    });
    run("rm", ["-r", linked]); // files with other names are copied
    all.push((await cpuSeconds(() => ingest(folder, "dir", context))) / least);
  }
  return { "small files into the store ÷ hashing and linking": median(all) };
}

async function cpuSeconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** The report of 140 attempts, against reading and parsing its samples. */
function reportRatio(work: string): Record<string, number> {
  const { stage, list } = writeReportInputs(join(work, "report"), { items, agents: ["a", "b", "c", "d"] });
  const node = (...args: string[]) => usage("env", [`MLRB_STAGE=${stage}`, process.execPath, ...args]);
  const [reading, reporting]: number[][] = [[], []];
  for (let round = 0; round < 3; round++) {
    reading!.push(node("-e", readSamples, list).cpuSeconds);
    reporting!.push(node("pipelines/steps/report.ts").cpuSeconds);
  }
  return { "report ÷ reading and parsing its samples": median(reporting!) / median(reading!) };
}
