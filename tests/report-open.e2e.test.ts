// `report --open` with a page: a server on loopback until a signal, with the records of the run's attempts.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const sample = join(import.meta.dirname, "..", "docs", "sample", "report.json");
const repository = throwAwayRepository();
after(() => repository.remove());

test("report --open serves the page with whole trajectories and files, and ends on Ctrl-C", async (t) => {
  const at = lab(t, repository);
  const head = '{"formatVersion":1,"index":0,"previous":"0","time":"2026-01-01T00:00:00Z","sinceStartMs":1';
  const line = `${head},"event":"output","stream":"stdout","text":"<b>loss 3.1</b>"}`;
  at.define({
    axes: { task: ["baby-lm"], agent: ["minimal"], seed: [1] },
    stages: {
      attempt: {
        ...{ role: "attempt", each: ["task", "agent", "seed"], durable: true },
        command: `mkdir -p {outputs.snapshots}/0001 && echo kept > {outputs.snapshots}/0001/note.txt && echo '${line}' > {outputs.trajectory}`,
        gives: { trajectory: "file", snapshots: "dir" },
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
  const bin = join(at.outside, "bin");
  mkdirSync(bin);
  const opener = join(bin, process.platform === "darwin" ? "open" : "xdg-open");
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${at.outside}/opened'\n`);
  chmodSync(opener, 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const served = at.start(["report", at.name, "--root", at.root, "--open"], { env });
  t.after(() => served.child.kill("SIGKILL"));
  const addressOf = () => /^serving (\S+)$/m.exec(served.stdout())?.[1];
  while (addressOf() === undefined && served.child.exitCode === null) await pause(50);
  const address = addressOf();
  assert.ok(address, served.stderr());

  const read = async (path: string) => (await fetch(new URL(path, address))).text();
  const links = [...(await read("")).matchAll(/href="((?:trajectory|files)\/[0-9a-f]{64}\/?)"/g)].map(
    ([, to]) => to!,
  );
  assert.equal(links.length, 2);
  assert.match(await read(links[0]!), /1 event, from line 1 of 1[\s\S]*&#60;b&#62;loss 3\.1/);
  assert.match(await read(links[1]!), /href="\.\/[^"]+"/);
  const snapshots = /href="\.\/([^"]*snapshots[^"]*)"/.exec(await read(links[1]!))![1]!;
  assert.match(await read(`${links[1]}${snapshots}0001/note.txt`), /kept/);
  while (!existsSync(join(at.outside, "opened"))) await pause(50);
  const opened = readFileSync(join(at.outside, "opened"), "utf8");
  assert.ok(
    readFileSync(opened, "utf8").includes(`url=${address}`),
    "no argument of a program holds the token",
  );
  const page = readFileSync(join(at.root, "results", at.name, "default", "report.html"), "utf8");
  assert.doesNotMatch(page, /href="trajectory/, "the file has no links that need a server");

  served.child.kill("SIGINT");
  assert.equal((await served.ended).code, 0);
  await assert.rejects(fetch(address));
  assert.ok(!existsSync(opened));
});
