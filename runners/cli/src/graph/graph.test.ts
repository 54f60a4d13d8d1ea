import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { InstanceState } from "../show/instance-state.ts";
import { type Graph, graphOf } from "./graph.ts";
import { graphSvg } from "./graph-svg.ts";

const text = `formatVersion: 1
name: test
axes: { word: [alpha, beta] }
stages:
  make:
    each: [word]
    command: make
    gives: { text: file, notes: file, answers: { file: true, private: true } }
  attempt:
    each: [word]
    needs: [make.text, make.notes]
    command: try
    gives: { work: file }
    durable: true
    untrusted: true
  score:
    each: [word]
    needs: [attempt.work, make.answers]
    command: score
    opens: untrusted
    gives: { score: file }
  report: { collect: [score.score, digest(attempt.work)], command: report, gives: { all: file } }
`;

function plan(changed = text): Plan {
  const sources = memorySources({ "pipelines/test.yaml": changed });
  const result = loadPlan({ file: "pipelines/test.yaml" }, sources, ["local"]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  return result.plan;
}

/** States by id; the others are up to date. `only`: the drawn instances, by index. */
function graph(
  states: Record<string, InstanceState>,
  { all = false, instances = false, of = plan(), only = (id: string): boolean => id !== "" } = {},
): Graph {
  const drawn = of.instances.filter(({ id }) => only(id));
  const stateOf = new Map(drawn.map(({ index, id }) => [index, states[id] ?? "upToDate"]));
  return graphOf(of, { stateOf, instances, all });
}

const some = {
  "attempt[word=beta]": "failed",
  "score[word=beta]": "uncertain",
  report: "uncertain",
} as const;

test("the text of Graphviz has the same boxes and lines as the drawing", async () => {
  const dot = await graphSvg(graph(some), "canon");
  assert.match(dot, /^digraph "test \(default\)" \{/);
  assert.equal(dot.match(/ -> /g)?.length, 5);
  assert.match(
    dot,
    /attempt\s+\[[^\]]*label="attempt\\n2 over word\\ndurable, untrusted\\n1 up to date, 1 failed"/,
  );
  assert.doesNotMatch(dot, /pos=/);
});

test("stages of a group are one node with all their edges, unless each is asked for", () => {
  const grouped = text.replace("    untrusted: true\n", "    untrusted: true\n    group: work\n");
  const of = plan(grouped.replace("    opens: untrusted\n", "    opens: untrusted\n    group: work\n"));
  const { nodes, edges } = graph(some, { of });
  assert.deepEqual(
    nodes.map(({ id, lines, state }) => [id, lines, state]),
    [
      ["make", ["2 over word", "2 up to date"], "upToDate"],
      ["work", ["4 of 2 stages", "durable, untrusted", "2 up to date, 1 failed, 1 uncertain"], "failed"],
      ["report", ["1 uncertain"], "uncertain"],
    ],
  );
  assert.deepEqual(
    edges.map(({ from, to, outputs }) => [from, to, outputs]),
    [
      ["make", "work", ["text", "notes"]],
      ["make", "work", ["answers"]],
      ["work", "report", ["score"]],
      ["work", "report", ["work"]],
    ],
  );
  assert.equal(graph(some, { of, all: true }).nodes.length, 4);
});

test("each selected instance is drawn, with the edges between drawn instances only", () => {
  const beta = graph(some, { instances: true, only: (id) => !id.includes("alpha") && id !== "report" });
  assert.deepEqual(
    beta.nodes.map(({ id, lines, state }) => [id, lines, state]),
    [
      ["make[word=beta]", ["word=beta", "up to date"], "upToDate"],
      ["attempt[word=beta]", ["word=beta", "durable, untrusted", "failed"], "failed"],
      ["score[word=beta]", ["word=beta", "uncertain"], "uncertain"],
    ],
  );
  assert.deepEqual(
    beta.edges.map(({ from, to, outputs, private: hidden }) => [from, to, outputs, hidden]),
    [
      ["make[word=beta]", "attempt[word=beta]", ["text", "notes"], false],
      ["attempt[word=beta]", "score[word=beta]", ["work"], false],
      ["make[word=beta]", "score[word=beta]", ["answers"], true],
    ],
  );
});

test("a stage without a selected instance is not drawn", () => {
  const drawn = graph({}, { only: (id) => !id.startsWith("score") });
  assert.deepEqual(
    drawn.nodes.map(({ id }) => id),
    ["make", "attempt", "report"],
  );
  assert.deepEqual(
    drawn.edges.map(({ from, to }) => `${from} ${to}`),
    ["make attempt", "attempt report"],
  );
});

test("the state that most needs attention colours a stage of several states", () => {
  const coloured = (...two: [InstanceState, InstanceState]) =>
    graph({ "make[word=alpha]": two[0], "make[word=beta]": two[1] }).nodes[0]!.state;
  assert.equal(coloured("upToDate", "failed"), "failed");
  assert.equal(coloured("running", "upToDate"), "running");
  assert.equal(coloured("uncertain", "stale"), "stale");
});

test("characters with a meaning in Graphviz are drawn literally", async () => {
  const node = { lines: [], state: "stale", durable: false, untrusted: false } as const;
  const names = ['a"b\\N<i>&#35;', "c\\l|[x]`y`"];
  const odd: Graph = {
    title: "t",
    nodes: names.map((id) => ({ id, name: id, ...node, lines: [] })),
    edges: [],
  };
  const svg = await graphSvg(odd);
  const shown = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, one]) => unescaped(one!));
  assert.deepEqual(shown.slice(1), names);
});

function unescaped(text: string): string {
  const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text.replace(/&(?:#(\d+)|([a-z]+));/g, (_, number, name) =>
    number ? String.fromCodePoint(Number(number)).replace("\u00a0", " ") : named[name]!,
  );
}

test("an SVG has a box for each stage and a line for each edge, coloured by state", async () => {
  const svg = await graphSvg(graph(some));
  assert.match(svg, /^<\?xml/);
  assert.equal(svg.match(/class="node"/g)?.length, 4);
  assert.equal(svg.match(/class="edge"/g)?.length, 5);
  assert.match(svg, /<title>attempt<\/title>\s*<polygon fill="#f8d0d0"[^>]*stroke-dasharray/);
  assert.match(svg, /<title>make&#45;&gt;attempt<\/title>\s*<path[^>]*stroke="#444444"/);
  assert.match(svg, /<title>attempt&#45;&gt;report<\/title>\s*<path[^>]*stroke-dasharray/);
  assert.match(svg, /<text[^>]*fill="#b00020"[^>]*>answers \(private\)/);
});
