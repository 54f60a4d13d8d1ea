import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { keyGate } from "./key-gate.ts";

const instance = (
  id: string,
  params: object,
  secrets: string[],
  more: { durable?: boolean; pools?: object } = {},
) => {
  const { durable = true, pools = {} } = more;
  const execution = { resources: { pools } };
  return {
    id,
    stage: { name: "attempt", durable, spec: {} },
    action: { params, secrets },
    execution,
  } as unknown as Instance;
};
const said = (starts: Instance[], env: NodeJS.ProcessEnv) => keyGate({ starts, host: { env } });
const answers = (starts: Instance[], env: NodeJS.ProcessEnv = {}) =>
  said(starts, env).map(({ answer }) => answer);

test("an attempt without its model's key is refused with the variable's name", () => {
  const wants = instance("attempt[agent=a]", { model: { id: "m", key: "A_KEY" } }, ["A_KEY"]);
  const more = instance("attempt[agent=b]", { gateway: [{ provider: "p", key: "B_KEY" }] }, ["B_KEY"]);
  const [first, second] = said([wants, wants, more], {});
  assert.equal(first!.found, "A_KEY is not set, and attempt[agent=a] and 1 more call models with it");
  assert.equal(second!.found, "B_KEY is not set, and attempt[agent=b] calls models with it");
  assert.match(first!.help!, /^export A_KEY=… /);
  assert.deepEqual(answers([wants, wants, more], { A_KEY: "x", B_KEY: "y" }), ["works", "works"]);
});

test("local endpoints and stages that are not attempts need no key", () => {
  assert.deepEqual(answers([instance("x", { model: { id: "m" } }, [])]), []);
  assert.deepEqual(answers([instance("x", { model: { id: "m" } }, ["A_KEY"])]), ["note"]);
  assert.deepEqual(answers([instance("x", { model: { key: "A_KEY" } }, ["A_KEY"], { durable: false })]), [
    "note",
  ]);
});

test("a stage that calls a provider needs the variable that is named after it", () => {
  const pools = { "api:acme": 1 };
  assert.deepEqual(answers([instance("x", {}, ["ACME_KEY", "OTHER"], { durable: false, pools })]), [
    "missing",
    "note",
  ]);
});
