import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { agentModels, unpriced } from "@mlrb/agents/model/agent-models";
import { priceBook } from "@mlrb/agents/spending/prices";
import type { Instance } from "@mlrb/core/plan/plan";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { parse } from "yaml";
import { refusals } from "./check.ts";
import { startedIn } from "./gate.ts";
import { priceGate, runPurse } from "./price-gate.ts";

const preset = `formatVersion: 1
name: cli
title: A program
kind: command
gateway:
  - { provider: google, key: K, ids: [gemini-2.5-pro, gemini-2.5-flash] }
secrets: [K]
`;
const sources = { read: () => preset, list: () => [], kind: () => undefined };
const gateway = [{ provider: "google", key: "K", ids: ["gemini-2.5-pro", "gemini-2.5-flash"] }];
const attempt = (id: string, params: object, dollars?: number) =>
  ({
    id,
    axes: { agent: "cli" },
    stage: { name: "attempt", durable: true, spec: {} },
    action: { params, budget: dollars === undefined ? {} : { dollars } },
  }) as unknown as Instance;
const run = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, action: "run" as const, onStale: "leave" as const }));
const said = (...prices: string[]) => priceBook([{ run: null, prices }]);
const none = { prices: [] as string[], capped: false, sources };

function noPrices(
  previews: Pick<Preview, "index" | "action" | "onStale">[],
  instances: Instance[],
  { prices, capped, ...more }: typeof none & { command?: string },
) {
  const purse = { prices, ...(capped && { maxDollars: 1 }) };
  const starts = startedIn(previews).map(({ index }) => instances[index]!);
  return refusals(priceGate({ starts, purse, ...more }))[0];
}

test("an unknown price under a limit in dollars refuses the run", () => {
  const others = [{ provider: "openai", ids: ["other-*", "gemini-2.5-pro"] }];
  const instances = [
    attempt("attempt[agent=cli]", { kind: "command", gateway }, 0.02),
    attempt("attempt[agent=other]", { kind: "command", gateway: others }, 0.02),
  ];
  const command = "pnpm pipeline run hello --max-cost 5";
  assert.equal(
    renderDiagnostic(noPrices(run(2), instances, { ...none, command })!),
    `runners/agents/presets/cli.yaml:6:39 no-price: attempt[agent=cli] may spend at most 0.02 dollars, 1 more attempt likewise, but no price of google gemini-2.5-pro, google gemini-2.5-flash is known: the limit could not be enforced
  6 |   - { provider: google, key: K, ids: [gemini-2.5-pro, gemini-2.5-flash] }
    |                                       ^^^^^^^^^^^^^^
  help: give the provider's price for a million tokens, in dollars: pnpm pipeline run hello --max-cost 5 --price gemini-2.5-pro=INPUT/OUTPUT --price gemini-2.5-flash=INPUT/OUTPUT --price 'other-*=INPUT/OUTPUT'; or add it to runners/agents/prices.yaml with its date and source; or set \`free: true\` in the preset of an endpoint without a bill`,
  );
});

test("--price, a free endpoint, or no limit in dollars lets an attempt start", () => {
  const wants = { kind: "command", gateway };
  const refused = (params: object, dollars: number | undefined, more: Partial<typeof none> = {}) =>
    noPrices(run(1), [attempt("a", params, dollars)], { ...none, ...more })?.code;
  assert.equal(refused(wants, undefined), undefined);
  assert.equal(refused(wants, undefined, { capped: true }), "no-price");
  assert.equal(refused(wants, 1, { prices: ["gemini-2.5-pro=1/2", "gemini-2.5-flash=1/2"] }), undefined);
  assert.equal(refused(wants, 1, { prices: ["gemini-*=1/2"] }), undefined);
  assert.equal(refused(wants, 1, { prices: ["gemini-2.5-pro=1/2"] }), "no-price");
  assert.equal(refused({ kind: "command", gateway: [{ ...gateway[0], free: true }] }, 1), undefined);
  const llm = { kind: "llm", provider: "vllm", model: { id: "qwen" } };
  assert.equal(refused(llm, 1), "no-price");
  assert.equal(refused({ ...llm, model: { id: "qwen", free: true } }, 1), undefined);
  assert.equal(refused({ ...llm, provider: "openai", model: { id: "gpt-4o-2024-08-06" } }, 1), undefined);
  assert.equal(refused({ ...llm, kind: "replay" }, 1), undefined, "a recording costs nothing");
  const all = { kind: "command", gateway: [{ provider: "anthropic", ids: ["claude-*"] }] };
  assert.equal(refused(all, 1), "no-price", "some model of so many has no price");
  assert.equal(refused(all, 1, { prices: ["claude-*=3/15"] }), undefined);
});

test("a reused attempt needs no price", () => {
  const instances = [attempt("a", { kind: "command", gateway }, 1)];
  assert.equal(noPrices([{ index: 0, action: "reuse", onStale: "leave" }], instances, none), undefined);
});

test("an invalid --price is refused, and only a given --max-cost is a limit", () => {
  for (const price of [
    "m",
    "m=1",
    "m=/2",
    "=1/2",
    "m=-1/2",
    "m=1.2.3/1",
    `m=${"9".repeat(400)}/1`,
    "m=./1",
  ]) {
    const problem = runPurse({ price: [price] });
    assert.ok("code" in problem && problem.code === "bad-price", price);
    assert.match(problem.message, /write MODEL=INPUT\/OUTPUT in dollars for a million tokens/u);
  }
  const twice = runPurse({ price: ["m=1/2", "m=3/4"] });
  assert.ok("code" in twice && /two prices for m/u.test(twice.message));
  for (const maxCost of ["Infinity", "1e999", "-1", "NaN", "", "5$"]) {
    const problem = runPurse({ maxCost });
    assert.ok("code" in problem && problem.code === "bad-limit", maxCost);
  }
  assert.deepEqual(runPurse({ maxCost: "0" }), { prices: [], maxDollars: 0 });
  assert.deepEqual(runPurse({ price: ["Qwen/Q=1=0.5/2"] }), { prices: ["Qwen/Q=1=0.5/2"] });
  assert.deepEqual(runPurse({ maxCost: "2.5", yes: true }), { prices: [], maxDollars: 2.5 });
});

test("every shipped preset has known prices, is free, or names the --price that it needs", () => {
  const folder = join(import.meta.dirname, "../../../agents/presets");
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), "utf8");
    const unknown = unpriced(agentModels(parse(text)), priceBook([]));
    if (unknown.length === 0) continue;
    const wanted = /--price '?([^ ='\n]+)=INPUT\/OUTPUT/u.exec(text)?.[1];
    assert.ok(wanted, `${file}: ${unknown.map(({ id }) => id).join(", ")}`);
    assert.deepEqual(unpriced(unknown, said(`${wanted}=1/2`)), [], file);
  }
});
