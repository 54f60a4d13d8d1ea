import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { profilesOf } from "./profiles-of.ts";

const repository = join(dirname(fileURLToPath(import.meta.url)), "../../../..");

test("a remembered request is planned in another profile, and not in one that its pipeline lacks", async () => {
  const options = { only: [], set: [], json: false };
  const inProfile = await profilesOf({ repository, pipeline: "hello", options }, undefined);
  assert.equal(inProfile("smoke")?.plan.profile, "smoke");
  assert.equal(inProfile("no-such-profile"), undefined);
});
