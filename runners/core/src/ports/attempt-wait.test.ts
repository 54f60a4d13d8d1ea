import assert from "node:assert/strict";
import { test } from "node:test";
import { readWaits } from "./attempt-wait.ts";
import { readResumeReply, readResumeRequest } from "./resume-request.ts";

const wait = {
  ...{ why: "operator", cause: "wrong-key", whose: "operator", detail: "401" },
  ...{ since: "2026-01-01T00:00:00Z", nextTry: "2026-01-01T00:01:00Z", giveUpAt: "2026-01-02T00:00:00Z" },
};
const waits = (value: unknown) => readWaits(JSON.stringify(value));

test("waits are read whole or not at all", () => {
  assert.deepEqual(waits({ formatVersion: 1, waits: [wait] }), [wait]);
  for (const wrong of [null, [], { ...wait, since: 5 }, { ...wait, why: "toString" }])
    assert.equal(waits({ formatVersion: 1, waits: [wait, wrong] }), undefined);
  assert.equal(waits({ formatVersion: 2, waits: [] }), undefined);
  assert.equal(readWaits('{"formatVersion":1,"waits":['), undefined, "half a file");
});

test("a refused request is never quoted, since its values are secrets", () => {
  const secret = "sk-secret";
  const request = (value: unknown) => readResumeRequest(JSON.stringify(value));
  const whole = { formatVersion: 1, secrets: { KEY: secret } };
  assert.deepEqual(request(whole), whole);
  const refused = [
    request({ ...whole, formatVersion: secret }),
    request({ ...whole, secrets: secret }),
    request({ ...whole, secrets: { KEY: [secret] } }),
    request({ ...whole, secrets: { KEY: "" } }),
    readResumeRequest(`${secret}: no JSON`),
  ];
  assert.deepEqual(refused, [
    "the request is of another format; this attempt reads format 1",
    "the request holds no secrets",
    "a secret of the request is not text",
    "a secret of the request is not text",
    "the request is not JSON",
  ]);
});

test("a malformed reply is undefined", () => {
  assert.deepEqual(readResumeReply('{"kind":"resumed","calls":2}'), { kind: "resumed", calls: 2 });
  for (const text of ["", "null", '{"kind":"resumed"}', '{"kind":"refused","detail":{}}', '{"kind":"later"}'])
    assert.equal(readResumeReply(text), undefined);
});
