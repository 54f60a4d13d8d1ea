import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { endJobs } from "./executors.ts";

test("a stopped attempt without a supervisor tells its job through the remote cache that it is given up", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-end-jobs-"));
  t.after(() => removeFolder(root));
  const calls: string[] = [];
  const cache = createServer((asked, answer) => {
    calls.push(`${asked.method} ${asked.url}`);
    asked.resume().on("end", () => answer.end());
  }).listen(0, "127.0.0.1");
  t.after(() => cache.close());
  await once(cache, "listening");
  const bin = join(root, "bin");
  const attempt = join(root, ".mlrb/attempts/running/attempt-1");
  const job = join(attempt, "jobs/1");
  for (const path of [bin, job]) mkdirSync(path, { recursive: true });
  writeFileSync(join(bin, "scancel"), "#!/bin/sh\n");
  chmodSync(join(bin, "scancel"), 0o755);
  const about = { formatVersion: 1, run: "attempt-1", job: "1", stage: "attempt", key: "k" };
  writeFileSync(
    join(job, "job.json"),
    JSON.stringify({ ...about, work: attempt, log: join(attempt, "log") }),
  );
  writeFileSync(join(job, "id.json"), JSON.stringify({ formatVersion: 1, id: "7" }));
  writeFileSync(join(job, "travels.json"), "{}");
  const { PATH, MLRB_REMOTE_CACHE } = process.env;
  t.after(() => {
    Object.assign(process.env, { PATH });
    if (MLRB_REMOTE_CACHE === undefined) delete process.env.MLRB_REMOTE_CACHE;
    else Object.assign(process.env, { MLRB_REMOTE_CACHE });
  });
  process.env.PATH = `${bin}${delimiter}${PATH}`;
  process.env.MLRB_REMOTE_CACHE = `http://127.0.0.1:${(cache.address() as AddressInfo).port}`;
  await endJobs(attempt);
  assert.equal(calls.length, 1);
  assert.match(calls[0]!, /^PUT \/ac\/[0-9a-f]{64}$/);
});
