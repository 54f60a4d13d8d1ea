import assert from "node:assert/strict";
import { test } from "node:test";
import { callEngine, troubleOf } from "./engine-call.ts";

/** Errors of several engine versions, word for word. */
const words: Record<string, string[]> = {
  "no-daemon": [
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "error during connect: Get http://x/_ping: dial unix /x/docker.sock: connect: connection refused",
  ],
  "not-allowed": [
    "Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: dial unix /var/run/docker.sock: connect: permission denied",
    "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock",
  ],
  "image-missing": ["Error: No such image: x:1", "Error: x: image not known"],
  "container-missing": ["Error: No such container: abc", 'Error: no container with name or ID "x" found'],
  "not-running": ["Error response from daemon: Cannot kill container: x: Container x is not running"],
  "engine-gone": [
    "unexpected EOF",
    "error waiting for container: unexpected EOF",
    "Error response from daemon: client version 1.50 is too new. Maximum supported API version is 1.41",
  ],
  other: ["the input device is not a TTY"],
};

test("errors of engines are classified, with the line to paste", () => {
  for (const [kind, all] of Object.entries(words))
    for (const said of all) {
      const trouble = troubleOf(said, { program: "docker", line: "docker ps" });
      assert.equal(trouble.kind, kind, said);
      assert.ok(trouble.detail.endsWith(said), trouble.detail);
      assert.equal(trouble.line, "docker ps");
    }
});

test("a call that takes too long is ended and reported", async () => {
  const slow = await callEngine({ program: "sleep", env: process.env }, ["20"], { timeMs: 100 });
  assert.deepEqual(slow, {
    ok: false,
    trouble: {
      kind: "timed-out",
      detail: "the container engine did not answer within 0.1 s; is it busy or stuck?",
      line: "sleep 20",
    },
  });
});

test("a secret is passed in the environment and appears in no message", async () => {
  const env = { SECRET: "hush" };
  const script = 'echo "${#SECRET}"; exit 3';
  const result = await callEngine({ program: "sh", env: process.env }, ["-c", script], { timeMs: 9000, env });
  assert.equal(result.ok, false);
  assert.doesNotMatch(JSON.stringify(result), /hush/);
});
