// What the local executor takes away from a stage: the network with `network: none`, and write access to large
// inputs, which are links into the store. Also large files on their way in and out.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { counted, type Lab, lab, outcomes, results } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const namespaces = spawnSync("unshare", ["--mount", "--net", "true"]).status === 0;
const needsNamespaces = {
  skip: namespaces ? (false as const) : "this user may not have namespaces (unshare) here",
};

test(
  "a stage with network: none reaches no address that a stage with network: full reaches",
  needsNamespaces,
  async (t) => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const at = lab(t, repository);
    const script = at.script(
      "ask.ts",
      `import { writeFileSync } from "node:fs";\nimport { stage } from "@mlrb/kit/stage";\nconst { outputs, params } = stage();\nconst said = await fetch(String(params.url)).then((r) => r.text(), () => "nobody");\nwriteFileSync(outputs.said!, said);\n`,
    );
    const gives = (file: string) => ({ said: { file } });
    at.define({
      profiles: {
        open: { default: true },
        closed: { network: "none", stages: { online: { network: "none" } } },
      },
      stages: {
        offline: { script, network: "none", params: { url }, gives: gives("offline.txt") },
        online: { script, network: "full", params: { url, again: 1 }, gives: gives("online.txt") },
      },
    });
    const said = await at.run();
    assert.equal(said.code, 0, said.stdout + said.stderr);
    assert.deepEqual(Object.values(results(at)).sort(), ["hello", "nobody"]);
    // the network is not in the key: another profile reuses both
    assert.deepEqual(outcomes(await at.run("--profile", "closed")), { offline: "reused", online: "reused" });
  },
);

test("a background process of a stage with network: none ends with the stage", needsNamespaces, async (t) => {
  const at = lab(t, repository);
  const pid = join(at.outside, "pid");
  at.define({
    stages: {
      leaves: {
        network: "none",
        command: `setsid sleep 300 & echo $! > '${pid}'; echo x > {outputs.text}`,
        gives: { text: { file: "leaves" } },
      },
      slow: {
        network: "none",
        limits: { time: "1s" },
        command: "sleep 300",
        gives: { text: { file: "slow" } },
      },
    },
  });
  const said = await at.run();
  assert.deepEqual(outcomes(said), { leaves: "succeeded", slow: "failed" });
  assert.match(said.stdout, /"failure":"time-limit"/);
  assert.throws(() => process.kill(Number(readFileSync(pid, "utf8")), 0), /ESRCH/);
});

const mib = 1 << 20;

/** A stage that outputs a file and a folder of 20 MiB each, and one that reads them. */
function large(at: Lab, reader: string): void {
  at.define({
    stages: {
      make: {
        command: counted(
          at,
          "make",
          "head -c 20971520 /dev/zero > {outputs.one}; mkdir {outputs.all}/sub; head -c 20971521 /dev/zero > {outputs.all}/sub/big; echo small > {outputs.all}/small",
        ),
        gives: { one: "file", all: "dir" },
      },
      read: {
        needs: ["make.one", "make.all"],
        command: counted(at, "read", reader),
        gives: { text: "file" },
      },
    },
  });
}

const big = (at: Lab) =>
  readdirSync(join(at.root, ".mlrb/cache/blobs"), { recursive: true, encoding: "utf8" })
    .map((name) => join(at.root, ".mlrb/cache/blobs", name))
    .filter((path) => statSync(path).size > mib)
    .sort((a, b) => statSync(a).size - statSync(b).size);

test(
  "large inputs are read-only links into the store: a stage that writes to one fails, and no content changes",
  needsNamespaces,
  async (t) => {
    const at = lab(t, repository);
    large(at, "stat -c %h {inputs.one} {inputs.all}/sub/big > {outputs.text}; echo x >> {inputs.one}");
    const said = await at.run();
    assert.deepEqual(outcomes(said), { make: "succeeded", read: "failed" });
    const log = await at.pipeline(["log", "read", "--root", at.root]);
    assert.match(log.stdout, /Read-only file system/);
    large(
      at,
      "stat -c %h {inputs.one} {inputs.all}/sub/big > {outputs.text}; cat {inputs.all}/small >> {outputs.text}",
    );
    assert.equal((await at.run()).code, 0);
    assert.deepEqual(Object.values(results(at)), ["2\n2\nsmall\n"]);
    const verified = await at.pipeline(["cache", "verify", "--root", at.root]);
    assert.equal(verified.code, 0, verified.stdout);
    for (const path of big(at)) assert.equal(statSync(path).nlink, 1, "and no link is left behind");
  },
);

test("damaged large contents are found before they are read, and made again in the same run", async (t) => {
  const at = lab(t, repository);
  large(at, "cat {inputs.one} {inputs.all}/sub/big | sha256sum > {outputs.text}");
  assert.equal((await at.run()).code, 0);
  const [expected] = Object.values(results(at));
  const zeros = execFileSync("sh", ["-c", "head -c 41943041 /dev/zero | sha256sum"], { encoding: "utf8" });
  assert.equal(expected, zeros);
  for (const path of big(at)) {
    execFileSync("chmod", ["u+w", path]);
    const file = openSync(path, "r+");
    writeSync(file, "damage", 12 * mib);
    closeSync(file);
    large(at, `cat {inputs.one} {inputs.all}/sub/big | sha256sum > {outputs.text} # after ${path.slice(-4)}`);
    const said = await at.run();
    assert.equal(said.code, 0, said.stdout + said.stderr);
    assert.deepEqual(Object.values(results(at)), [expected]);
  }
  assert.deepEqual(at.executions(), { make: 3, read: 3 });
});

test("damaged and missing contents that a stage needs are made again within one run, up the whole chain", async (t) => {
  const at = lab(t, repository);
  const chain = (last: string) =>
    at.define({
      stages: {
        one: { command: counted(at, "one", "echo one > {outputs.text}"), gives: { text: "file" } },
        two: {
          needs: ["one.text"],
          command: counted(
            at,
            "two",
            "mkdir {outputs.all}/deep; (cat {inputs.text}; echo two) > {outputs.all}/deep/file",
          ),
          gives: { all: "dir" },
        },
        three: {
          needs: ["two.all"],
          command: counted(at, "three", `(cat {inputs.all}/deep/file; echo ${last}) > {outputs.text}`),
          gives: { text: "file" },
        },
        gather: {
          collect: ["three.text", "one.text"],
          command: counted(
            at,
            "gather",
            'cat "$(dirname {inputs.manifest})"/members/*-text > {outputs.text}',
          ),
          gives: { text: { file: "all.txt" } },
        },
      },
    });
  chain("three");
  assert.equal((await at.run()).code, 0);
  const blobs = readdirSync(join(at.root, ".mlrb/cache/blobs"), { recursive: true, encoding: "utf8" })
    .map((name) => join(at.root, ".mlrb/cache/blobs", name))
    .filter((path) => statSync(path).isFile());
  assert.ok(blobs.length > 5);
  for (const path of blobs) {
    const text = readFileSync(path);
    rmSync(path);
    if (text.length > 3) execFileSync("sh", ["-c", `head -c ${text.length} /dev/zero > "$0"`, path]);
  }
  rmSync(join(at.root, "results"), { recursive: true });
  chain("changed");
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(Object.values(results(at))[0], "one\none\ntwo\nchanged\n");
  const { outcomes: counts } = said.lines.at(-1)!;
  assert.equal(
    Object.values(counts as Record<string, number>).reduce((sum, one) => sum + one, 0),
    4,
    "each instance is counted once",
  );
});
