import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { judgeStage } from "../testing/judge-stage.ts";
import { refusals } from "./check.ts";
import { judgeGate } from "./judge-gate.ts";
import { gates } from "./run-gates.ts";

const attempt = (agent: string, provider: string, id: string) =>
  ({
    axes: { agent },
    stage: { name: "attempt", durable: true, collect: [], spec: {} },
    action: { params: { preset: { kind: "llm", provider, model: { id } } } },
  }) as unknown as Instance;
const gpt = attempt("writer", "openai", "gpt-4o-2024-08-06");
const claude = attempt("other", "anthropic", "claude-opus-5-5");
const judge = {
  gpt: judgeStage("gpt-judge", { provider: "azure", id: "gpt-6" }),
  claude: judgeStage("claude-judge", { provider: "bedrock", id: "anthropic.claude-x" }),
  gemini: judgeStage("gemini-judge", { provider: "google", id: "gemini-3" }),
};
const refused = (instances: Instance[], starts = instances) =>
  refusals(judgeGate({ plan: { instances, stages: [] as Plan["stages"] } as Plan, starts }));

test("a first judge of the family of an agent is refused, by whatever provider", () => {
  const [problem, ...others] = refused([gpt, claude, judge.gpt, judge.claude]);
  assert.deepEqual(others, []);
  assert.ok(gates.includes(judgeGate), "runs and doctor ask it");
  assert.equal(
    renderDiagnostic(problem!),
    `judge-family: judge gpt-judge is of the family gpt, as is agent writer: models prefer what their own family wrote
  help: choose a judge of another family than claude, gpt, or add one: --set judge=gpt-judge,OTHER`,
  );
});

test("another judge of a family of no agent lets it judge, and only the first judge is primary", () => {
  assert.deepEqual(refused([gpt, judge.gpt, judge.gemini]), []);
  assert.equal(refused([gpt, claude, judge.gpt, judge.claude])[0]!.code, "judge-family");
  assert.deepEqual(refused([gpt, judge.gemini, judge.gpt]), []);
  assert.deepEqual(refused([claude, judge.gpt]), []);
});

test("agents count where their attempts are reused, and nothing is refused where no judge starts", () => {
  const all = [gpt, judge.gpt];
  assert.equal(refused(all, [judge.gpt]).length, 1);
  assert.deepEqual(refused(all, [gpt]), []);
});

test("tables of answers of no judge are refused, and what collects something else too is not", () => {
  const asks = { name: "ask", spec: { paidAnswers: true } };
  const collecting = (from: string[], members: object[] = []) =>
    ({ id: "tables", members, stage: { spec: {}, collect: from.map((stage) => ({ stage })) } }) as never;
  const refusedOf = (starts: Instance[]) =>
    refusals(judgeGate({ plan: { instances: starts, stages: [asks] } as never, starts }));
  assert.equal(
    renderDiagnostic(refusedOf([collecting(["ask"])])[0]!),
    `judge: no judge is chosen whose answers "tables" could collect
  help: add --set judge=NAME; \`pnpm pipeline list judges\` shows all`,
  );
  for (const one of [collecting(["ask", "score"]), collecting(["ask"], [{ from: 0 }]), collecting([])])
    assert.deepEqual(refusedOf([one]), []);
});

test("a judge of an unknown family is refused like one of an agent's, unless its preset states the family", () => {
  const deployed = { provider: "azure", id: "prod-4" };
  const unknown = judgeStage("deployed", deployed);
  for (const agent of [gpt, attempt("own", "azure", "prod-3")]) {
    assert.equal(refused([agent, unknown])[0]?.code, "judge-family");
    assert.deepEqual(refused([agent, unknown, judge.gemini]), []);
    assert.deepEqual(refused([agent, judge.gemini, unknown]), []);
    assert.deepEqual(refused([agent, judgeStage("stated", { ...deployed, family: "own" })]), []);
  }
  assert.equal(refused([gpt, judge.gpt, unknown])[0]?.code, "judge-family", "no known other one answers");
  assert.equal(refused([gpt, judgeStage("stated", { ...deployed, family: "gpt" })])[0]?.code, "judge-family");
  assert.deepEqual(refused([unknown]), [], "there is no agent to prefer");
  assert.equal(
    renderDiagnostic(refused([gpt, unknown])[0]!),
    `judge-family: judge deployed is of an unknown family, perhaps of an agent's: models prefer what their own family wrote
  help: state \`family\` of its model in a preset, choose a judge of another family than gpt, or add one: --set judge=deployed,OTHER`,
  );
});

test("an agent's family is the one that its preset states", () => {
  const preset = { kind: "llm", provider: "azure", model: { id: "prod-4", family: "gemini" } };
  const stated = { ...gpt, action: { params: { preset } } } as unknown as Instance;
  assert.equal(refused([stated, judge.gemini])[0]?.code, "judge-family");
  assert.deepEqual(refused([stated, judge.gpt]), []);
});
