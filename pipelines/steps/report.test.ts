import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import type { Member } from "@mlrb/formats/stage/collected";
import { nastyExample } from "@mlrb/report/testing/nasty-example";

const files = [
  "report.json",
  "report.md",
  "summary.csv",
  "attempts.csv",
  "scores.csv",
  "tables/main.tex",
  "figures/scores.pdf",
  "figures/over-time.pdf",
  "groups.md",
];

/** A folder with the nasty run's manifest and artifacts, as a runner would lay them out. */
function laidOut(t: TestContext, reorder: (members: Member[]) => Member[] = (members) => members): string {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const example = nastyExample();
  for (const [path, text] of example.texts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text.kind === "ok" ? text.value : "");
  }
  const members = reorder(example.members);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ formatVersion: 1, members }));
  const context = {
    formatVersion: 1,
    stage: "report",
    axes: {},
    params: example.params,
    inputs: { manifest: join(folder, "manifest.json") },
    outputs: { report: join(folder, "out") },
    files: [],
    budget: {},
  };
  mkdirSync(context.outputs.report);
  writeFileSync(join(folder, "stage.json"), JSON.stringify(context));
  return folder;
}

function run(folder: string, env: Record<string, string> = {}): string[] {
  execFileSync(process.execPath, [join(import.meta.dirname, "report.ts")], {
    env: { ...process.env, ...env, MLRB_STAGE: join(folder, "stage.json") },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return files.map((file) => readFileSync(join(folder, "out", file), "utf8"));
}

test("the same run gives the same bytes elsewhere, later, in another language and another order", (t) => {
  const here = run(laidOut(t), { TZ: "UTC", LC_ALL: "C" });
  const there = run(
    laidOut(t, (members) => members.toReversed()),
    { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", COLUMNS: "40", FORCE_COLOR: "3" },
  );
  assert.deepEqual(there, here);
  const golden = join(import.meta.dirname, "..", "..", "runners", "report", "golden");
  assert.equal(here[0], readFileSync(join(golden, "nasty.json.txt"), "utf8"));
  mustFollow(reportFormat, JSON.parse(here[0]!), "report.json");
});

test("an artifact that is a link, a folder, binary or gone is one unreadable entry of a whole report", (t) => {
  const folder = laidOut(t);
  const at = (agent: string, seed: number) =>
    join(folder, `score[task=letters,agent=${agent},seed=${seed},scorer=bits]`, "score");
  for (const [agent, seed] of [
    ["plain", 1],
    ["plain", 2],
    ["strong", 1],
    ["strong", 2],
  ] as const) {
    rmSync(at(agent, seed));
  }
  symlinkSync(join(folder, "stage.json"), at("plain", 1));
  mkdirSync(at("plain", 2));
  writeFileSync(at("strong", 1), Buffer.from([0xff, 0xfe, 0x00]));
  const report = mustFollow(reportFormat, JSON.parse(run(folder)[0]!), "report.json");
  const causes = report.attempts
    .filter(({ task }) => task === "letters")
    .map(({ scores }) => scores.bits!)
    .map((score) => (score.kind === "not-measured" ? score.cause : score.kind));
  assert.deepEqual(causes, [
    "unreadable score (a symbolic link)",
    "unreadable score (not a regular file)",
    "unreadable score (not UTF-8 text)",
    "unreadable score (ENOENT)",
  ]);
  assert.ok(!JSON.stringify(report).includes(folder), "no path of this machine");
});
