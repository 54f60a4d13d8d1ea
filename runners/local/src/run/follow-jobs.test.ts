// What a run reports of the jobs of an attempt, by their folders.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { followJobs } from "./follow-jobs.ts";

test("each job is reported as submitted and placed, and a later one with the end of the one before it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-follow-"));
  t.after(() => removeFolder(folder));
  const write = (job: number, name: string, value: unknown) => {
    mkdirSync(join(folder, "jobs", String(job)), { recursive: true });
    writeJson(join(folder, "jobs", String(job), name), value);
  };
  const begun = (node: string, id: string) => ({ kind: "begun", formatVersion: 1, id, host: node, node });
  const reported: string[] = [];
  t.mock.timers.enable({ apis: ["setInterval"] });
  const follow = () =>
    followJobs(folder, {
      submitted: () => reported.push("submitted"),
      placed: ({ node, job }, queuedMs) =>
        reported.push(`placed ${node} ${job}${queuedMs === undefined ? "" : ", queued"}`),
      continued: (why) => reported.push(`continued: ${why}`),
    });
  const first = follow();
  write(1, "job.json", { job: "1" });
  t.mock.timers.tick(200);
  write(1, "claim.json", begun("n1", "7"));
  t.mock.timers.tick(200);
  write(1, "done.json", { result: { kind: "cancelled" }, continues: true });
  write(2, "job.json", { job: "2", after: "its time was over" });
  t.mock.timers.tick(200);
  first.stop();
  const later = follow();
  write(2, "claim.json", begun("n2", "8"));
  later.stop();
  assert.deepEqual(reported, [
    ...["submitted", "placed n1 7, queued"],
    ...["continued: its time was over", "submitted"],
    ...["submitted", "placed n2 8"],
  ]);
});
