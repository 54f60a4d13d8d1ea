// An attempt on a node waits for a person who reaches only the host that submitted its job.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { pauseFile } from "@mlrb/core/ports/attempt-wait";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { deskOfHost } from "./host-desk.ts";
import { operatorDesk } from "./operator-desk.ts";

test("new secrets stay on the host, and the node's call tries again without them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-desk-"));
  t.after(() => removeFolder(folder));
  const taken: Record<string, string>[] = [];
  const host = await deskOfHost({
    folder,
    secrets: ["KEY"],
    take: (one) => taken.push(one),
    waiting: () => 1,
  });
  t.after(() => host?.close());
  const onNode: unknown[] = [];
  const node = operatorDesk({ folder, secrets: ["KEY"], take: (one) => onNode.push(one), remote: true });
  writeFileSync(join(folder, pauseFile), "{}");
  assert.equal(node.paused(), true);
  const waits = node.pause(60_000, AbortSignal.timeout(10_000));
  const ask = async (secrets: Record<string, string>) => {
    const socket = connect({ path: join(folder, "resume/sock"), allowHalfOpen: true });
    socket.end(`${JSON.stringify({ formatVersion: 1, secrets })}\n`);
    return JSON.parse(await text(socket)) as unknown;
  };
  assert.deepEqual(await ask({ OTHER: "a-value" }), {
    kind: "refused",
    detail: "the attempt has no secret OTHER",
  });
  assert.deepEqual(await ask({ KEY: "the-new-value" }), { kind: "resumed", calls: 1 });
  await waits;
  assert.deepEqual([taken, onNode], [[{ KEY: "the-new-value" }], []]);
  assert.equal(node.paused(), false);
  assert.equal(existsSync(join(folder, pauseFile)), false);
  await node.close();
});
