import assert from "node:assert/strict";
import { test } from "node:test";
import { unpinnedBases } from "@mlrb/core/spec/image-reference";
import type { CallResult } from "@mlrb/docker/engine-call";
import { pinBases } from "./pin-images.ts";

const digest = `sha256:${"a".repeat(64)}`;

/** An engine that can pull the images with these digests. */
function engine(digests: Record<string, string[] | null>) {
  const calls: string[] = [];
  const call = async (args: readonly string[]): Promise<CallResult> => {
    calls.push(args.join(" "));
    const known = digests[args.at(-1)!];
    if (known !== undefined) return { ok: true, stdout: `${JSON.stringify(known)}\n` };
    return { ok: false, trouble: { kind: "other", detail: "no route to the registry", line: "" } };
  };
  return { calls, engine: { call, program: "docker" } };
}

test("each base without a digest is pulled once and pinned by name, tag and digest", async () => {
  const { engine: one, calls } = engine({
    "nvidia/cuda:13": [`other@sha256:0`, `docker.io/nvidia/cuda@${digest}`],
  });
  const text = `FROM nvidia/cuda:13 AS a\nFROM a\nCOPY --from=nvidia/cuda:13 /x /x\nFROM nvidia/cuda:13\n`;
  const { text: pinned, pinned: bases, problems } = await pinBases(text, one);
  assert.deepEqual([bases, problems], [[`nvidia/cuda:13@${digest}`], []]);
  assert.equal(pinned, text.replaceAll("cuda:13", `cuda:13@${digest}`));
  assert.deepEqual(unpinnedBases(pinned), []);
  assert.equal(calls.filter((line) => line.startsWith("pull")).length, 1);
  assert.equal((await pinBases(pinned, one)).text, pinned);
});

test("a base that cannot be pulled, has no digest or hides in a variable stays as it is, with the reason", async () => {
  const text = "FROM away:1\nFROM built:1\nFROM debian:$TAG\n";
  const { text: same, pinned, problems } = await pinBases(text, engine({ "built:1": null }).engine);
  assert.deepEqual([same, pinned], [text, []]);
  assert.deepEqual(problems, [
    "away:1: docker cannot pull it: no route to the registry",
    "built:1: docker names no digest of it; was it built here?",
    "debian:$TAG: its name has a variable; write the name itself",
  ]);
});
