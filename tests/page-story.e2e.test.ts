// The stories of a run's attempts on its page, and the command that exports one whose story does not fit.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const sample = join(import.meta.dirname, "..", "docs", "smoke", "report.json");
const repository = throwAwayRepository();
after(() => repository.remove());

test("an attempt whose story does not fit on the page says so, and the command that it names exports all", async (t) => {
  const at = lab(t, repository);
  const head = '{"formatVersion":1,"index":0,"previous":"0","time":"2026-01-01T00:00:00Z","sinceStartMs":1';
  const line = `${head},"event":"note","by":"agent","text":"<b>loss 3.1</b>"}`;
  at.define({
    axes: { task: ["baby-lm"], agent: ["script-weak"], seed: [1, 2] },
    stages: {
      attempt: {
        ...{ role: "attempt", each: ["task", "agent", "seed"], durable: true },
        command: `test {seed} = 1 && count=3 || count=40000; yes '${line}' | head -n $count > {outputs.trajectory}`,
        gives: { trajectory: "file" },
      },
      report: {
        collect: ["attempt.trajectory"],
        command: `mkdir -p {outputs.report} && cp '${sample}' {outputs.report}/report.json`,
        gives: { report: "dir" },
      },
    },
  });
  const ran = await at.run("--yes");
  assert.equal(ran.code, 0, ran.stderr);
  const page = readFileSync(join(at.root, "results", at.name, "default", "report.html"), "utf8");
  assert.match(page, /at most 40 kB of its story, told from at most the first 4\.0 MB of its trajectory/);
  const attempts = page.split('<details id="attempt__').slice(1);
  const of = (seed: number) => attempts.find((one) => one.startsWith(`baby-lm__script-weak__${seed}"`))!;
  assert.match(of(1), /&#60;b&#62;loss 3\.1/);
  assert.doesNotMatch(of(1), /does not fit/);
  assert.match(of(2), /&#60;b&#62;loss 3\.1[\s\S]*does not fit here\.<\/b> Its trajectory has [5-9]\.\d MB/);
  const [, command] = /<code>pnpm pipeline (attempts export [^<]*)<\/code>/.exec(of(2))!;
  const words = command!.split(" ").map((word) => (word === "logs/" ? `${at.outside}/logs/` : word));
  const said = await at.pipeline([...words, "--root", at.root]);
  assert.equal(said.code, 0, said.stderr);
  const [log] = readdirSync(join(at.outside, "logs"));
  const { samples } = JSON.parse(readFileSync(join(at.outside, "logs", log!), "utf8"));
  assert.ok(samples[0].events.length >= 40_000, String(samples[0].events.length));
});
