import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { downloadsRequest } from "./downloads-request.ts";

const folder = mkdtempSync(join(tmpdir(), "downloads-request-"));
after(() => rmSync(folder, { recursive: true }));

function manifest(members: object[]): string {
  const path = join(folder, "manifest.json");
  writeFileSync(path, JSON.stringify({ formatVersion: 1, members }));
  return path;
}

function withVariables<T>(variables: Record<string, string>, look: () => T): T {
  const before = process.env;
  process.env = { MLRB_DOWNLOADS: "/downloads", ...variables };
  try {
    return look();
  } finally {
    process.env = before;
  }
}

const member = { stage: "withheld[task=a]", name: "withheld", axes: {}, outcome: "succeeded", cause: "" };
const digest = "0".repeat(64);
const given = {
  ...member,
  artifacts: { withheld: { digest, kind: "file", path: "members/0/withheld.json" } },
};

test("an attempt without a list of withheld data does not start, and the message names the cause", () => {
  const failed = { ...member, outcome: "failed", cause: "exit code 1", artifacts: {} };
  withVariables({}, () => {
    assert.throws(() => downloadsRequest(undefined, 1), /no stage is collected/);
    assert.throws(() => downloadsRequest(manifest([]), 1), /no stage is collected/);
    assert.throws(() => downloadsRequest(manifest([failed]), 1), /withheld\[task=a\]: exit code 1/);
    assert.equal(downloadsRequest(manifest([given]), 1).withheld, join(folder, "members/0/withheld.json"));
  });
});

test("servers are the public ones unless variables name others, and none with a password or without http", () => {
  const servers = (variables: Record<string, string>) =>
    withVariables(variables, () => downloadsRequest(manifest([given]), 1).servers);
  assert.deepEqual(servers({}), {
    hub: "https://huggingface.co",
    packages: "https://pypi.org/simple",
    code: "https://codeload.github.com",
  });
  assert.equal(servers({ HF_ENDPOINT: "http://hub.lab" }).hub, "http://hub.lab");
  for (const address of ["https://me:secret@index.example/simple", "file:///opt/simple", "index"])
    assert.throws(
      () => servers({ PIP_INDEX_URL: address }),
      (error: Error) =>
        /PIP_INDEX_URL to be an http/.test(error.message) && !error.message.includes("secret"),
    );
});
