import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DirectedGraph } from "graphology";
import { hasCycle } from "graphology-dag";
import { cycles } from "./cycles.ts";

function graphOf(edges: [string, string][]): DirectedGraph {
  const graph = new DirectedGraph();
  for (const [from, to] of edges) graph.mergeDirectedEdge(from, to);
  return graph;
}

test("a graph without a cycle has none reported", () => {
  assert.deepEqual(
    cycles(
      graphOf([
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
      ]),
    ),
    [],
  );
});

test("each group of nodes that reach each other has its shortest cycle reported through its first node", () => {
  const graph = graphOf([
    ["x", "a"],
    ["a", "b"],
    ["b", "c"],
    ["c", "a"],
    ["b", "a"],
    ["c", "d"],
    ["d", "e"],
    ["e", "d"],
  ]);
  assert.deepEqual(cycles(graph), [
    ["a", "b", "a"],
    ["d", "e", "d"],
  ]);
});

test("of cycles of one length the one whose edges came first is reported", () => {
  const graph = graphOf([
    ["a", "c"],
    ["a", "b"],
    ["b", "a"],
    ["c", "a"],
  ]);
  assert.deepEqual(cycles(graph), [["a", "c", "a"]]);
});

test("a cycle of two is found behind a chain of many thousand nodes", () => {
  const chain = Array.from({ length: 20_000 }, (_, at): [string, string] => [`n${at}`, `n${at + 1}`]);
  const graph = graphOf([...chain, ["n20000", "n19999"]]);
  assert.deepEqual(cycles(graph), [["n19999", "n20000", "n19999"]]);
});

test("a cycle of many thousand nodes is found", () => {
  const edges = Array.from({ length: 20_000 }, (_, at): [string, string] => [
    `n${at}`,
    `n${(at + 1) % 20_000}`,
  ]);
  assert.equal(cycles(graphOf(edges))[0]!.length, 20_001);
});

test("every reported cycle is a cycle of the graph, and a graph with a cycle has one reported", () => {
  const node = fc.constantFrom(..."abcdefgh");
  const edges = fc.array(
    fc.tuple(node, node).filter(([from, to]) => from !== to),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(edges, (list) => {
      const graph = graphOf(list);
      const found = cycles(graph);
      assert.equal(found.length > 0, hasCycle(graph));
      for (const cycle of found) {
        assert.equal(cycle[0], cycle.at(-1));
        assert.equal(new Set(cycle).size, cycle.length - 1);
        for (const [at, from] of cycle.slice(0, -1).entries()) assert.ok(graph.hasEdge(from, cycle[at + 1]!));
      }
    }),
  );
});
