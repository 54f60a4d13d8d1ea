// Speed, as ratios within one run: against the same processes from xargs, against ninja on the same graph,
// against sha256sum. Seconds do not travel between machines; ratios do, roughly. Medians of several.
//   npx -y pnpm@10.34.9 bench            1 000 instances, 1 GiB, 4 000 files        (about a minute)
//   npx -y pnpm@10.34.9 bench --large    10 000 instances as well, 4 GiB, 20 000    (about five)
//   npx -y pnpm@10.34.9 bench --huge     100 000 as well                            (about twenty)
//   npx -y pnpm@10.34.9 bench --scores   only scores: forked, fresh, 28 together    (about five)
//   npx -y pnpm@10.34.9 bench --store    only contents: in, out, kept as a record  (about one; --large: about five)
//   npx -y pnpm@10.34.9 bench --report   only the report stage, at 14 042 items    (about one)
//   npx -y pnpm@10.34.9 bench --sandbox  only sandboxes                             (seconds)
//   npx -y pnpm@10.34.9 bench --permissions only what it costs to hold a stage to what it declares (seconds)
//   npx -y pnpm@10.34.9 bench --containers only stages and sandboxes in containers (seconds)
//   npx -y pnpm@10.34.9 bench --coverage what intervals hold, docs/statistics.md    (seconds; no speed)
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { benchContainers } from "./bench-containers.ts";
import { ninjaText, pipelineText } from "./bench-graphs.ts";
import { benchLooking } from "./bench-looking.ts";
import { benchPermissions } from "./bench-permissions.ts";
import { benchReport } from "./bench-report.ts";
import { benchSandbox } from "./bench-sandbox.ts";
import { benchScores } from "./bench-scores.ts";
import { benchStore } from "./bench-store.ts";
import { medianSeconds as median, run as must, type RowDetail, seconds } from "./bench-tools.ts";
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
} else if (wanted.includes("--store")) {
  await benchStore({ work, row, large });
} else if (wanted.includes("--sandbox")) {
  await benchSandbox({ work, row });
} else if (wanted.includes("--permissions")) {
  benchPermissions({ work, row });
} else if (wanted.includes("--report")) {
  benchReport(14_042, { work, row });
} else if (wanted.includes("--containers")) {
  await benchContainers({ work, row });
} else {
  benchLooking({ work, pipelines, row });
  benchGraph(32);
  if (large) benchGraph(323);
  if (wanted.includes("--huge")) benchGraph(3226);
  await benchStore({ work, row, large });
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
