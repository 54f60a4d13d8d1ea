import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentPreset, attemptFields, presetOfAttempt } from "./agent-preset.ts";

const nop: AgentPreset = { formatVersion: 1, name: "n", title: "N", kind: "nop" };

test("an attempt is keyed by each field of its preset except its title", () => {
  const preset = presetOfAttempt({ ...nop, seeded: true, image: "host" }) as { kind: string };
  assert.deepEqual(
    Object.entries(preset).filter(([, value]) => value !== null),
    [["kind", "nop"]],
  );
  assert.deepEqual(attemptFields({ preset, prompt: "p.md" }), { ...preset, prompt: "p.md" });
});

test("an agent that is no team has no field of one: earlier attempts keep their keys and params", () => {
  assert.equal("team" in presetOfAttempt(nop), false);
  const team = { members: [{ name: "a", agent: "x", preset: { kind: "llm" } }] };
  assert.deepEqual(presetOfAttempt({ ...nop, kind: "team", team }).team, team);
});

test("a parameter called preset that is not an agent's is keyed unchanged", () => {
  const [one, other] = [
    { preset: { lr: 1 }, lr: 2 },
    { preset: { lr: 9 }, lr: 2 },
  ];
  assert.notDeepEqual(attemptFields(one), attemptFields(other));
  assert.deepEqual(attemptFields(one), one);
});
