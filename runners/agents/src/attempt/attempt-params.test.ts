import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptParams } from "./attempt-params.ts";

const nop = { kind: "nop", prompt: "p.md" };

test("null fields of a preset are dropped, and other params are ignored", () => {
  assert.deepEqual(attemptParams({ ...nop, command: null, model: null, other: 1 }), { ...nop, other: 1 });
});

const wrong: [what: string, params: Parameters<typeof attemptParams>[0], says: RegExp][] = [
  ["no kind", { ...nop, kind: null }, /kind is missing/],
  [
    "an unknown kind",
    { ...nop, kind: "x" },
    /kind is "x", not one of command, llm, team, person, replay, nop/,
  ],
  ["no command", { ...nop, kind: "command" }, /kind command needs `command: \[program, argument …\]`/],
  ["an empty command", { ...nop, kind: "command", command: [] }, /command is empty/],
  ["a wrong scaffold", { ...nop, scaffold: "x" }, /scaffold is "x", not one of react, supervisor-worker/],
  ["an unfinished model", { ...nop, model: { id: "m" } }, /model\.contextTokens is missing/],
  ["a gateway that is no list", { ...nop, gateway: "openai" }, /gateway is "openai", not a list/],
  ["no provider", { ...nop, gateway: [{ ids: ["m"] }] }, /gateway\.0\.provider is missing/],
  ["a path", { ...nop, gateway: [{ provider: "a/b", ids: ["m"] }] }, /gateway\.0\.provider is "a\/b"/],
  ["no models", { ...nop, gateway: [{ provider: "openai" }] }, /gateway\.0\.ids is missing/],
  [
    "a protocol",
    { ...nop, gateway: [{ provider: "openai", protocol: "soap", ids: ["m"] }] },
    /gateway\.0\.protocol is "soap", not one of openai, anthropic, google/,
  ],
];

for (const [what, params, says] of wrong)
  test(`a wrong preset is refused with the field's name: ${what}`, () =>
    assert.throws(() => attemptParams(params), says));
