import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DirectedGraph } from "graphology";
import { hasCycle } from "graphology-dag";
import { circles } from "./circles.ts";

function graphOf(edges: [string, string][]): DirectedGraph {
  const graph = new DirectedGraph();
  for (const [from, to] of edges) graph.mergeDirectedEdge(from, to);
  return graph;
}

test("a graph without a circle has none", () => {
  assert.deepEqual(
    circles(
      graphOf([
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
      ]),
    ),
    [],
  );
});

test("each group of nodes that reach each other gives its shortest circle through its first node", () => {
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
  assert.deepEqual(circles(graph), [
    ["a", "b", "a"],
    ["d", "e", "d"],
  ]);
});

test("of circles of one length the one whose edges came first is told", () => {
  const graph = graphOf([
    ["a", "c"],
    ["a", "b"],
    ["b", "a"],
    ["c", "a"],
  ]);
  assert.deepEqual(circles(graph), [["a", "c", "a"]]);
});

test("a circle of two is found behind a chain of many thousand nodes", () => {
  const chain = Array.from({ length: 20_000 }, (_, at): [string, string] => [`n${at}`, `n${at + 1}`]);
  const graph = graphOf([...chain, ["n20000", "n19999"]]);
  assert.deepEqual(circles(graph), [["n19999", "n20000", "n19999"]]);
});

test("a circle of many thousand nodes is found", () => {
  const edges = Array.from({ length: 20_000 }, (_, at): [string, string] => [
    `n${at}`,
    `n${(at + 1) % 20_000}`,
  ]);
  assert.equal(circles(graphOf(edges))[0]!.length, 20_001);
});

test("what is told is a circle of the graph, and one is told where there is one", () => {
  const node = fc.constantFrom(..."abcdefgh");
  const edges = fc.array(
    fc.tuple(node, node).filter(([from, to]) => from !== to),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(edges, (list) => {
      const graph = graphOf(list);
      const found = circles(graph);
      assert.equal(found.length > 0, hasCycle(graph));
      for (const circle of found) {
        assert.equal(circle[0], circle.at(-1));
        assert.equal(new Set(circle).size, circle.length - 1);
        for (const [at, from] of circle.slice(0, -1).entries())
          assert.ok(graph.hasEdge(from, circle[at + 1]!));
      }
    }),
  );
});
