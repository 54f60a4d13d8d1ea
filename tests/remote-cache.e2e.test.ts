// Machines that share nothing but a remote cache: nginx, as people run it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { noSshKeygen, signingKeys } from "../runners/local/src/testing/signing-keys.ts";
import { counted, filesBelow, lab, lineOf, outcomes, results } from "./support/lab.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { CacheServer, cacheToken, nginx } from "./support/servers/cache-server.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const skip = noSshKeygen || nginx.missing;
const repository = throwAwayRepository();
after(() => repository.remove());
const keys = skip ? undefined : signingKeys({ after });
const key = keys?.make("alice") ?? "";

const weightBytes = 8 << 20;

/** Machines of one lab, each with a state of its own. */
async function machines(t: TestContext) {
  const cache = await new CacheServer(nginx).start();
  t.after(() => cache.stop());
  const at = lab(t, repository);
  at.define({
    stages: {
      model: {
        command: counted(
          at,
          "model",
          `mkdir -p {outputs.folder}/deep; head -c ${weightBytes} /dev/zero | tr '\\0' w > {outputs.folder}/deep/weights; echo 1 > {outputs.folder}/config`,
        ),
        gives: { folder: "dir" },
      },
      attempt: {
        durable: true,
        needs: ["model.folder"],
        command: counted(at, "attempt", "wc -c < {inputs.model.folder}/deep/weights > {outputs.submission}"),
        gives: { submission: "file" },
      },
      score: {
        needs: ["attempt.submission"],
        command: counted(at, "score", "cp {inputs.attempt.submission} {outputs.value}"),
        gives: { value: "file" },
      },
      summary: {
        collect: ["score.value"],
        command: counted(at, "summary", "cp {inputs.manifest} {outputs.text}"),
        gives: { text: "file" },
      },
    },
  });
  const pipeline = (machine: string, args: string[], env: Record<string, string> = {}) =>
    at.pipeline([...args, "--root", join(at.outside, machine)], {
      env: {
        MLRB_REMOTE_CACHE: cache.address,
        MLRB_REMOTE_CACHE_TOKEN: cacheToken,
        MLRB_REMOTE_CACHE_SIGNERS: keys!.allowing("alice"),
        ...env,
      },
    });
  const run = (machine: string, env: Record<string, string> = {}) =>
    pipeline(machine, ["run", at.name, "--json"], env);
  return { at, cache, pipeline, run, root: (machine: string) => join(at.outside, machine) };
}

const use = (said: ProgramOutput) => said.lines.find(({ event }) => event === "remote-cache")!;

test("another machine takes every result but the attempt, publishes the same bytes, and keeps no token", {
  skip,
}, async (t) => {
  const { at, cache, pipeline, run, root } = await machines(t);
  const first = await run("first", { MLRB_REMOTE_CACHE_KEY: key });
  assert.equal(first.code, 0, first.stderr);
  const { sent, unsent } = use(first);
  assert.deepEqual([sent, unsent], [3, 0], first.stderr);
  assert.equal(cache.names("ac").length, 3);
  const second = await run("second");
  assert.equal(second.code, 0, second.stderr);
  assert.deepEqual(outcomes(second), {
    model: "reused",
    attempt: "succeeded",
    score: "reused",
    summary: "reused",
  });
  assert.deepEqual(lineOf(second, "model").reasons, [
    { kind: "unchanged" },
    { kind: "remote", signedBy: "alice" },
  ]);
  assert.deepEqual(at.executions(), { model: 1, attempt: 2, score: 1, summary: 1 });
  assert.deepEqual(results({ root: root("second") }), results({ root: root("first") }));
  for (const machine of ["first", "second"])
    for (const [path, text] of Object.entries(filesBelow(root(machine))))
      assert.ok(!text.includes(cacheToken), path);
  const stats = await pipeline("second", ["cache", "stats"]);
  assert.match(stats.stdout, /^remote cache: 127\.0\.0\.1:\d+: results are taken$/m);
  // what was taken is local from now on
  await cache.stop();
  const again = await run("second");
  assert.equal(again.code, 0, again.stderr);
  assert.ok(Object.values(outcomes(again)).every((outcome) => outcome === "reused"));
});

test("a server that is killed in the middle of an upload costs no run, and its half of a content is never used", {
  skip,
}, async (t) => {
  const { at, cache, run } = await machines(t);
  cache.killAfter = weightBytes / 2;
  const first = await run("first", { MLRB_REMOTE_CACHE_KEY: key });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(use(first).sent, 0, first.stderr);
  assert.match(first.stderr, /not sent to it any more in this run/);
  cache.killAfter = Number.POSITIVE_INFINITY;
  await cache.start();
  const second = await run("second", { MLRB_REMOTE_CACHE_KEY: key });
  assert.equal(second.code, 0, second.stderr);
  assert.equal(use(second).taken, 0);
  assert.equal(use(second).sent, 3, second.stderr);
  const third = await run("third");
  assert.equal(use(third).taken, 3, third.stderr);
  assert.deepEqual(at.executions(), { model: 2, attempt: 3, score: 2, summary: 2 });
});
