// Speed, as ratios within one run: against the same processes from xargs, against ninja on the same graph,
// against sha256sum. Seconds do not travel between machines; ratios do, roughly. Medians of several.
//   npx -y pnpm@10.34.9 bench            1 000 instances, 1 GiB, 4 000 files        (about a minute)
//   npx -y pnpm@10.34.9 bench --large    10 000 instances as well, 4 GiB, 20 000    (about five)
//   npx -y pnpm@10.34.9 bench --huge     100 000 as well                            (about twenty)
//   npx -y pnpm@10.34.9 bench --scores   only scores: forked, fresh, 28 together    (about five)
//   npx -y pnpm@10.34.9 bench --report   only the report stage, at 14 042 items    (about one)
//   npx -y pnpm@10.34.9 bench --sandbox  only sandboxes                             (seconds)
//   npx -y pnpm@10.34.9 bench --permissions only what it costs to hold a stage to what it declares (seconds)
//   npx -y pnpm@10.34.9 bench --containers only stages and sandboxes in containers (seconds)
//   npx -y pnpm@10.34.9 bench --coverage what intervals hold, docs/statistics.md    (seconds; no speed)
import { hash, randomBytes } from "node:crypto";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AttemptRecord, AttemptRecords } from "@mlrb/local/attempt-records";
import { hashFile } from "@mlrb/local/hash-file";
import { layOut } from "@mlrb/local/lay-out";
import { removeAttempt } from "@mlrb/local/remove-attempt";
import { type Artifact, Store } from "@mlrb/local/store";
import { takeAllIn, takeIn } from "@mlrb/local/take-in";
import { VerifiedContents } from "@mlrb/local/verified-contents";
import { benchContainers } from "./bench-containers.ts";
import { ninjaText, pipelineText } from "./bench-graphs.ts";
import { benchLooking } from "./bench-looking.ts";
import { benchPermissions } from "./bench-permissions.ts";
import { benchReport } from "./bench-report.ts";
import { benchSandbox } from "./bench-sandbox.ts";
import { benchScores } from "./bench-scores.ts";
import { run as must, type RowDetail } from "./bench-tools.ts";
import { coverageRows, coverageText } from "./coverage-simulation.ts";
import { ensureEnvironment } from "./ensure-environment.ts";

const wanted = process.argv.slice(2);
if (wanted.includes("--coverage")) {
  console.log(coverageText(coverageRows({ seed: 1, datasets: 10_000, resamples: 999 })));
  process.exit();
}

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
const work = mkdtempSync(join(tmpdir(), "mlrb-bench-"));
const pipelines = join(repository, ".mlrb", "bench");
mkdirSync(pipelines, { recursive: true });
const ninja = join(dirname(await ensureEnvironment("pipelines/environments/tools.lock")), "ninja");

/** What, measured, ratio, target. */
const rows: string[][] = [];

const large = wanted.includes("--large") || wanted.includes("--huge");
if (wanted.includes("--scores")) {
  await benchScores({ work, pipelines, row });
} else if (wanted.includes("--sandbox")) {
  await benchSandbox({ work, row });
} else if (wanted.includes("--permissions")) {
  benchPermissions({ work, row });
} else if (wanted.includes("--report")) {
  benchReport(14_042, { work, row });
} else if (wanted.includes("--containers")) {
  await benchContainers({ work, row });
} else {
  if (!wanted.includes("--store")) {
    benchLooking({ work, pipelines, row });
    benchGraph(32);
  }
  if (large) benchGraph(323);
  if (wanted.includes("--huge")) benchGraph(3226);
  await benchLargeFile(large ? 4096 : 1024);
  await benchSmallFiles(large ? 20_000 : 4_000);
  benchReport(large ? 14_042 : 2_000, { work, row });
  benchPermissions({ work, row });
  await benchSandbox({ work, row });
  await benchContainers({ work, row });
}
print();
rmSync(work, { recursive: true, force: true });

/** A graph of the benchmark's shape: per task one set-up, ten attempts, validations and scores; one report. */
function benchGraph(tasks: number): void {
  const name = `bench-${tasks}`;
  const file = join(pipelines, `${name}.yaml`);
  const root = join(work, name);
  const size = tasks * 31 + 1;
  const n = size.toLocaleString("en").replace(",", " ");
  writeFileSync(file, pipelineText(name, tasks, 0));
  const pipeline = (...more: string[]) =>
    must(process.execPath, [
      "--max-semi-space-size=1",
      "runners/cli/bin/pipeline.js",
      "run",
      file,
      "--root",
      root,
      ...more,
    ]);

  const folder = join(work, `${name}-ninja`);
  mkdirSync(folder);
  writeFileSync(join(folder, "build.ninja"), ninjaText(tasks, 0));
  const build = () => must(ninja, ["-j2", "--quiet"], folder);

  // the same processes, each writing the file that the stage writes
  const files = join(work, `${name}-files`);
  mkdirSync(files);
  const processes = seconds(() =>
    must("sh", ["-c", `seq ${size} | xargs -P2 -I{} sh -c 'echo {} > ${files}/{}'`]),
  );
  let said = "";
  const cold = seconds(() => {
    said = pipeline("--json");
  });
  row(`cold, ${n}`, cold, { against: `xargs -P2, ${processes.toFixed(2)} s`, other: processes, target: 1.3 });
  const { cpuMs, peakMemoryBytes } = JSON.parse(said.trimEnd().split("\n").at(-1)!) as Record<string, number>;
  const own = `${(cpuMs! / size).toFixed(2)} ms of CPU a stage, ${Math.round(peakMemoryBytes! / 2 ** 20)} MiB`;
  row(`the runner's own, ${n}`, cpuMs! / 1000, {
    against: `1 ms a stage: ${own}`,
    other: size / 1000,
    target: 1,
  });
  const coldNinja = seconds(build);
  row(`cold, ${n}`, cold, { against: `ninja, ${coldNinja.toFixed(2)} s`, other: coldNinja });

  const same = median(5, () => pipeline());
  const sameNinja = median(5, build);
  row(`no-op, ${n}`, same, {
    against: `ninja, ${sameNinja.toFixed(3)} s`,
    other: sameNinja,
    target: tasks > 1000 ? 1 : tasks > 100 ? 2 : undefined,
  });
  const touched = median(3, () => {
    utimesSync(
      file,
      new Date(Date.now() - 60_000 * Math.random() - 5000),
      new Date(Date.now() - 60_000 * Math.random() - 5000),
    );
    pipeline();
  });
  row(`no-op after a touch, ${n}`, touched, { against: "no-op", other: same });

  let edit = 0;
  const edited = median(3, () => {
    writeFileSync(file, pipelineText(name, tasks, ++edit));
    pipeline();
  });
  const editedNinja = median(3, () => {
    writeFileSync(join(folder, "build.ninja"), ninjaText(tasks, edit++));
    build();
  });
  row(`one task edited, ${n}`, edited, {
    against: `ninja, ${editedNinja.toFixed(3)} s`,
    other: editedNinja,
    target: tasks > 100 ? 1.5 : 3,
  });
}

/** One large file into the store and out again, against reading and hashing it. */
async function benchLargeFile(mebibytes: number): Promise<void> {
  const path = join(work, "large");
  const size = `${mebibytes / 1024} GiB`;
  must("sh", ["-c", `head -c ${mebibytes}M /dev/urandom > ${path}`]);
  const blobs = join(work, "blobs");
  mkdirSync(blobs);
  const store = new Store(blobs);
  const verified = new VerifiedContents(work);
  hashFile(path);
  const hashing = median(3, () => hashFile(path));
  const against = `reading and hashing, ${hashing.toFixed(2)} s`;
  let artifact = await takeIn(path, "file", { store, verified });
  const taking = await medianOf(3, async (round) => {
    const again = join(work, `large-${round}`);
    must("cp", [store.pathOf(artifact.digest), again]); // outside the time
    rmSync(store.pathOf(artifact.digest), { force: true });
    return async () => {
      artifact = await takeIn(again, "file", { store, verified });
    };
  });
  row(`${size} into the store`, taking, { against, other: hashing, target: 1.2 });
  const out = (link: boolean) => (round: number) => async () => () =>
    layOut([{ artifact, path: join(work, `out-${link}-${round}`) }], {
      store,
      verified,
      link: async () => link,
    });
  const linking = await medianOf(3, (round) => out(true)(round)());
  row(`${size} out, linked`, linking, { against, other: hashing, target: 0.01 });
  const copying = await medianOf(1, (round) => out(false)(round)());
  row(`${size} out, copied`, copying, { against, other: hashing });
  for (const name of readdirSync(work)) if (/^(large|out)/.test(name)) rmSync(join(work, name));
}

/** Many small files into the store and out again, against hashing and renaming, and against copying them. */
/** What keeping an attempt of many files takes: in the store, in its record, on the disk. */
async function benchRecord(plain: string, n: string): Promise<void> {
  const copy = join(work, "record-copy");
  const copying = seconds(() => {
    must("cp", ["-r", plain, copy]);
    must("sync", ["-f", copy]);
  });
  const blobs = join(work, "record-blobs");
  mkdirSync(blobs);
  const verified = new VerifiedContents(work);
  const store = new Store(blobs);
  const records = new AttemptRecords(join(work, "attempts"), { store, verified });
  const begin = performance.now();
  const taken = await takeAllIn(
    [{ name: "all", path: copy, kind: "dir" }],
    { store, verified },
    { keep: true },
  );
  if (!("outputs" in taken)) throw new Error(taken.problem);
  records.put(
    {
      formatVersion: 1,
      slot: { pipeline: "bench", profile: "default", stage: "attempt" },
      axes: {},
      attemptKey: "bench",
      parts: {} as AttemptRecord["parts"],
      given: [],
      outputs: { all: { ...taken.outputs.all!, file: "all" } },
      harness: {},
      cost: { gpuHours: 0, dollars: null },
      ran: {
        run: "bench",
        startedAt: new Date().toISOString(),
        durationMs: 0,
        executor: "local",
        host: "bench",
      },
    },
    join(work, "no-log"),
  );
  await removeAttempt(copy);
  const keeping = (performance.now() - begin) / 1000;
  const against = `cp -r and sync, ${copying.toFixed(2)} s`;
  row(`${n} files of 4 KiB kept as an attempt's record`, keeping, { against, other: copying, target: 5 });
}

async function benchSmallFiles(count: number): Promise<void> {
  const n = count.toLocaleString("en").replace(",", " ");
  const make = (folder: string) => {
    mkdirSync(folder);
    for (let index = 0; index < count; index++) writeFileSync(join(folder, String(index)), randomBytes(4096));
  };
  const plain = join(work, "plain");
  make(plain);
  const names = readdirSync(plain).map((name) => join(plain, name));
  const hashing = median(3, () => {
    for (const path of names) hash("sha256", readFileSync(path));
  });
  const linked = join(work, "linked");
  mkdirSync(linked);
  const linking = seconds(() => {
    for (const [index, path] of names.entries()) linkSync(path, join(linked, String(index)));
  });
  const floor = hashing + linking;
  const blobs = join(work, "small-blobs");
  mkdirSync(blobs);
  const store = new Store(blobs);
  const verified = new VerifiedContents(work);
  const taken = join(work, "taken");
  make(taken);
  let artifact: Artifact | undefined;
  const begin = performance.now();
  artifact = await takeIn(taken, "dir", { store, verified });
  const taking = (performance.now() - begin) / 1000;
  const inWords = `hashing and linking, ${floor.toFixed(2)} s`;
  row(`${n} files of 4 KiB into the store`, taking, { against: inWords, other: floor, target: 1.5 });
  await benchRecord(plain, n);
  const copied = join(work, "copied");
  mkdirSync(copied);
  const copying = seconds(() => {
    for (const [index, path] of names.entries()) copyFileSync(path, join(copied, String(index)));
  });
  const out = await medianOf(
    1,
    async () => () =>
      layOut([{ artifact, path: join(work, "small-out") }], { store, verified, link: async () => false }),
  );
  const outFloor = hashing + copying;
  row(`${n} files of 4 KiB out`, out, {
    against: `hashing and copying, ${outFloor.toFixed(2)} s`,
    other: outFloor,
    target: 1.5,
  });
}

/** `prepare` makes what is then timed. */
async function medianOf(
  times: number,
  prepare: (round: number) => Promise<() => Promise<unknown>>,
): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < times; round++) {
    const run = await prepare(round);
    const begin = performance.now();
    await run();
    all.push((performance.now() - begin) / 1000);
  }
  return all.sort((a, b) => a - b)[all.length >> 1]!;
}

function row(what: string, value: number, detail: RowDetail = {}): void {
  const { against, other = Number.NaN, target, unit = "s" } = detail;
  const ratio = value / other;
  const met = target === undefined ? "" : `${target} (${ratio <= target ? "met" : "missed"})`;
  const measured = `${value.toFixed(unit === "s" ? 3 : 0)} ${unit}`;
  const compared = against === undefined ? "" : `${ratio.toFixed(2)} × ${against}`;
  rows.push([what, measured, compared, met]);
  process.stderr.write(`${what}: ${measured}${compared && `, ${compared}`}\n`);
}

function print(): void {
  const table = [["", "measured", "ratio", "target"], ["---", "--:", "---", "---"], ...rows];
  console.log(table.map((line) => `| ${line.join(" | ")} |`).join("\n"));
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? process.arch;
  console.log(
    `\n${cpu}, Node ${process.version}; load ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]} at the end`,
  );
}

function median(times: number, work: () => void): number {
  const all = Array.from({ length: times }, () => seconds(work)).sort((a, b) => a - b);
  return all[all.length >> 1]!;
}

function seconds(work: () => void): number {
  const begin = performance.now();
  work();
  return (performance.now() - begin) / 1000;
}
