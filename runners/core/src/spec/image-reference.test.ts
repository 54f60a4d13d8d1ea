import assert from "node:assert/strict";
import { test } from "node:test";
import { imageIdentity, parseImageReference, unpinnedBases } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;
const dockerfile = { kind: "dockerfile", file: "images/x/Dockerfile", folder: "images/x" } as const;

test("an image is this host, a Dockerfile or a digest", () => {
  assert.deepEqual(parseImageReference("host"), { kind: "host" });
  assert.deepEqual(parseImageReference("images/x/Dockerfile"), dockerfile);
  assert.deepEqual(parseImageReference("images/x/gpu.Dockerfile"), {
    ...dockerfile,
    file: "images/x/gpu.Dockerfile",
  });
  assert.deepEqual(parseImageReference(`registry.example:5000/a/b:1@${digest}`), {
    kind: "digest",
    name: "registry.example:5000/a/b:1",
    digest,
  });
});

test("an image that is not pinned is refused with the ways to pin it", () => {
  for (const text of [
    "debian",
    "debian:12",
    "a/b/c:latest",
    "",
    "--privileged",
    `x@sha256:12`,
    `-x@${digest}`,
  ]) {
    const refused = parseImageReference(text);
    assert.equal(refused.kind, "refused", text);
    assert.match((refused as { help: string }).help, /`host`, a Dockerfile of the repository/);
  }
});

test("a Dockerfile outside the repository, or with the whole of it as context, is refused", () => {
  for (const text of ["/etc/Dockerfile", "../x/Dockerfile", "a/./Dockerfile", "a//Dockerfile", "Dockerfile"])
    assert.equal(parseImageReference(text).kind, "refused", text);
});

test("the identity of a Dockerfile changes with any file of its folder and with no other", () => {
  const files = { "images/x/Dockerfile": "1", "images/x/sub/b": "2", "images/y/c": "3" };
  const before = imageIdentity(dockerfile, files);
  assert.match(before, /^dockerfile:[0-9a-f]{64}$/);
  assert.equal(imageIdentity(dockerfile, { ...files, "images/y/c": "4" }), before);
  assert.equal(imageIdentity(dockerfile, Object.fromEntries(Object.entries(files).reverse())), before);
  assert.notEqual(imageIdentity(dockerfile, { ...files, "images/x/sub/b": "4" }), before);
  assert.notEqual(imageIdentity(dockerfile, { ...files, "images/x/new": "4" }), before);
});

test("a base is pinned if it is scratch, a digest or an earlier step", () => {
  const good = `FROM scratch AS one\nFROM debian@${digest} as Two\nCOPY --from=one /a /b\nCOPY --from=0 /a /b\nFROM --platform=linux/amd64 two\n`;
  assert.deepEqual(unpinnedBases(good), []);
  assert.deepEqual(unpinnedBases("ARG TAG=1\nFROM \\\n  debian:$TAG\nCOPY --from=nginx:1 /a /b\n"), [
    "debian:$TAG",
    "nginx:1",
  ]);
});
