import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { agentsExample } from "../../testing/agents-example.ts";
import type { PageExperiment, PageStory } from "../page-data.ts";
import { experimentsPart } from "./experiments-part.ts";

const { stories, times } = agentsExample();
const [time] = times!.attempts;
const { experiments } = stories[0] as PageStory & { kind: "read" };
const drawn = (more: Partial<Parameters<typeof experimentsPart>[0]> = {}) => {
  const part = experimentsPart({ experiments, more: 0, metric: "bits", time, ...more });
  return parseHTML(`<html><body>${part ? part.markup : ""}</body></html>`).document;
};

test("each experiment with a value is a mark, filled where the agent says that it kept it, and a row", () => {
  const document = drawn();
  const fills = [...document.querySelectorAll("svg g[fill] > path, svg g[fill] > circle")].map((mark) =>
    mark.parentElement!.getAttribute("fill"),
  );
  const kept = experiments.filter(({ decision }) => decision === "keep").length;
  assert.ok(kept > 0 && kept < experiments.length);
  assert.equal(fills.filter((fill) => fill === "var(--agent-1)").length, kept);
  assert.equal(fills.filter((fill) => fill === "var(--ground)").length, experiments.length - kept);
  const rows = [...document.querySelectorAll("tbody tr")].map((row) => row.textContent);
  assert.equal(rows.length, experiments.length);
  assert.match(rows[0]!, /change number 1bits on dev 3\.\d+keep$/);
});

test("only values of one metric share the axis; others are rows", () => {
  const other: PageExperiment = { ...experiments[1]!, metric: { name: "loss", split: null, value: 1e9 } };
  const document = drawn({ experiments: [experiments[0]!, other, ...experiments.slice(2)] });
  assert.doesNotMatch(document.querySelector("svg")!.outerHTML, /1000000000/);
  assert.match(document.querySelector("tbody")!.textContent, /loss 1000000000/);
});

test("no curve is drawn from fewer than two values, and nothing without an experiment", () => {
  const bare = experiments.map((one) => ({ ...one, metric: null }));
  const document = drawn({ experiments: bare, time: { ...time!, bestSoFar: [] } });
  assert.equal(document.querySelector("svg"), null);
  assert.equal(document.querySelectorAll("tbody tr").length, experiments.length);
  assert.equal(experimentsPart({ experiments: [], more: 0, metric: "bits", time }), false);
});

test("more experiments than the page holds are counted", () => {
  assert.match(drawn({ more: 5 }).body.textContent, /The page holds the first 8 of 13\./);
  assert.doesNotMatch(drawn().body.textContent, /The page holds/);
});
