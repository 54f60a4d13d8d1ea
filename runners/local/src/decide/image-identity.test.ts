import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { FileDigests } from "../digests/file-digest-memory.ts";
import { imageOf } from "./image-identity.ts";

test("an attempt's key covers every byte, bit and link of its image's folder, and the key of another stage does not", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-image-"));
  t.after(() => rmSync(root, { recursive: true }));
  const at = (file: string) => join(root, "image", file);
  mkdirSync(at("src"), { recursive: true });
  mkdirSync(join(root, "memory"));
  writeFileSync(at("Dockerfile"), "FROM scratch\nCOPY src /src\n");
  writeFileSync(at("src/a.py"), "x = 1  # remark\n");
  const execution = { executor: "docker", image: "image/Dockerfile" };
  const attempt = { stage: { durable: true, untrusted: true }, execution } as unknown as Instance;
  const stage = { stage: {}, execution } as unknown as Instance;
  const now = (instance: Instance) =>
    imageOf(instance, { digests: new FileDigests(root, join(root, "memory")) }).image;
  const [first, trusted] = [now(attempt), now(stage)];
  const edits = [
    () => writeFileSync(at("src/a.py"), "x = 1  # another remark\n"),
    () => writeFileSync(at("src/.env"), "SECRET=1\n"),
    () => chmodSync(at("src/a.py"), 0o755),
    () => symlinkSync("a.py", at("src/link")),
    () => mkdirSync(at("src/empty")),
  ];
  const seen = new Set([first]);
  for (const edit of edits) {
    edit();
    const image = now(attempt);
    assert.ok(!seen.has(image), edit.toString());
    seen.add(image);
    assert.equal(now(stage), trusted);
  }
});
