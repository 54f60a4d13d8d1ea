// Measures speed as ratios within one run: against the same processes from xargs, against ninja on the same graph,
// against sha256sum. Seconds differ between machines; ratios differ much less. Rows are medians of several runs.
//   npx -y pnpm@10.34.9 bench            1 000 instances, 1 GiB, 4 000 files        (about a minute)
//   npx -y pnpm@10.34.9 bench --large    10 000 instances as well, 6 GiB, 20 000    (about five)
//   npx -y pnpm@10.34.9 bench --huge     100 000 as well                            (about twenty)
//   npx -y pnpm@10.34.9 bench --scores   only scores: forked, fresh, 28 together, walls (about six)
//   npx -y pnpm@10.34.9 bench --lm-eval  only scorers against plain lm-eval         (about five)
//   npx -y pnpm@10.34.9 bench --store    only contents: in, out, kept as a record  (about one; --large: about five)
//   npx -y pnpm@10.34.9 bench --restore-points a workspace of 100 GiB, sparse (seconds; --large: 5 GiB of data change, 25 GiB of disk)
//   npx -y pnpm@10.34.9 bench --report   only the report stage, up to 67 000 items (about two)
//   npx -y pnpm@10.34.9 bench --growth   only how steps grow with stages, records and events (about eight)
//   npx -y pnpm@10.34.9 bench --first-run only the README's first command, in a clone with an empty HOME (about thirty)
//   npx -y pnpm@10.34.9 bench --short    only the ratios that a thorough test guards (half a minute; --renew writes them)
//   npx -y pnpm@10.34.9 bench --sandbox  only sandboxes                             (seconds)
//   npx -y pnpm@10.34.9 bench --permissions only the cost of enforcing a stage's declared permissions (seconds)
//   npx -y pnpm@10.34.9 bench --containers only stages and sandboxes in containers (seconds)
//   npx -y pnpm@10.34.9 bench --slurm    only 200 stages as jobs of a Slurm on loopback (minutes)
//   npx -y pnpm@10.34.9 bench --coverage coverage of the intervals, docs/statistics.md    (a minute; not a speed)
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchContainers } from "./containers.ts";
import { overTasksTable } from "./coverage-over-tasks.ts";
import { coverageTable } from "./coverage-simulation.ts";
import { benchFirstRun } from "./first-run.ts";
import { benchGraph, benchLooking } from "./graphs.ts";
import { benchGrowth } from "./growth/growth.ts";
import { benchLmEval } from "./lm-eval.ts";
import { benchPermissions } from "./permissions.ts";
import { benchReport, benchReports } from "./report.ts";
import { benchRestorePoints } from "./restore-points.ts";
import { rowNote } from "./row-notes.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchScores } from "./scores.ts";
import { growthMax, readRatios, shortRatios, writeRatios } from "./short.ts";
import { benchSlurm } from "./slurm.ts";
import { benchStore } from "./store.ts";
import { type RowDetail, repository } from "./tools.ts";

const wanted = process.argv.slice(2);
if (wanted.includes("--coverage")) {
  console.log(coverageTable({ seed: 1, datasets: 10_000, resamples: 999 }));
  console.log(`\n${overTasksTable({ seed: 1, datasets: 10_000, permutations: 399 })}`);
  process.exit();
}

const work = mkdtempSync(join(tmpdir(), "mlrb-bench-"));
const pipelines = join(repository, ".mlrb", "bench");
mkdirSync(pipelines, { recursive: true });

/** Name, measured value, ratio, target, floor. */
const rows: string[][] = [];
/** Of missed targets. */
const reasons: string[] = [];
const large = wanted.includes("--large") || wanted.includes("--huge");
const bench = { work, row };
if (wanted.includes("--scores")) await benchScores({ ...bench, pipelines });
else if (wanted.includes("--lm-eval")) await benchLmEval(bench);
else if (wanted.includes("--store")) await benchStore({ ...bench, large });
else if (wanted.includes("--restore-points")) await benchRestorePoints(large ? 5120 : 64, bench);
else if (wanted.includes("--sandbox")) await benchSandbox(bench);
else if (wanted.includes("--first-run")) benchFirstRun(bench);
else if (wanted.includes("--permissions")) await benchPermissions(bench);
else if (wanted.includes("--report")) await benchReports(bench);
else if (wanted.includes("--containers")) await benchContainers(bench);
else if (wanted.includes("--growth"))
  await benchGrowth({
    ...{ ...bench, pipelines, huge: wanted.includes("--huge") },
    only: wanted.find((word) => word.startsWith("--only="))?.slice("--only=".length),
  });
else if (wanted.includes("--short")) {
  const ratios = await shortRatios({ work, pipelines });
  if (wanted.includes("--renew")) writeRatios(ratios);
  const stored = readRatios();
  for (const [name, ratio] of Object.entries(ratios))
    row(name, ratio, {
      ...{ against: "the stored ratio", other: stored[name] ?? ratio, target: growthMax, unit: "×" },
    });
} else if (wanted.includes("--slurm")) await benchSlurm({ ...bench, pipelines });
else {
  await benchLooking({ ...bench, pipelines });
  await benchGraph(32, { ...bench, pipelines });
  if (large) await benchGraph(323, { ...bench, pipelines });
  if (wanted.includes("--huge")) await benchGraph(3226, { ...bench, pipelines });
  await benchStore({ ...bench, large });
  await benchReport(large ? 14_042 : 2_000, bench);
  await benchPermissions(bench);
  await benchSandbox(bench);
  await benchContainers(bench);
}
print();
rmSync(work, { recursive: true, force: true });

function row(what: string, value: number, detail: RowDetail = {}): void {
  const { against, other = Number.NaN, target, unit = "s" } = detail;
  const ratio = value / other;
  const isMissed = target !== undefined && !(ratio <= target);
  const { floor = "not stated", missed = "no reason is stated in scripts/bench/row-notes.ts" } =
    rowNote(what) ?? {};
  if (isMissed) reasons.push(`- ${what}: missed, ${missed}.`);
  const met = target === undefined ? "none" : `${target} (${isMissed ? "missed" : "met"})`;
  const measured = `${value.toFixed(unit === "s" ? 3 : unit === "×" ? 2 : 0)} ${unit}`;
  const compared = against === undefined ? "" : `${ratio.toFixed(2)} × ${against}`;
  rows.push([what, measured, compared, met, floor]);
  process.stderr.write(`${what}: ${measured}${compared && `, ${compared}`}\n`);
}

function print(): void {
  const table = [["", "measured", "ratio", "target", "floor"], ["---", "--:", "---", "---", "---"], ...rows];
  console.log(table.map((line) => `| ${line.join(" | ")} |`).join("\n"));
  if (reasons.length > 0) console.log(`\n${reasons.join("\n")}`);
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? process.arch;
  console.log(
    `\n${cpu}, Node ${process.version}; load ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]} at the end`,
  );
}
