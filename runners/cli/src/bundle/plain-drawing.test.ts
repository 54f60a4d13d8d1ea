import assert from "node:assert/strict";
import { test } from "node:test";
import { graphSvg } from "../graph/graph-svg.ts";
import { isPlainDrawing } from "./plain-drawing.ts";

const drawing = (inside: string) => `<svg width="1pt" viewBox="0 0 1 1">\n<g id="g">${inside}</g>\n</svg>`;

test("shapes, texts and links within the page are a plain drawing", () => {
  assert.ok(
    isPlainDrawing(
      drawing(
        '<title>a&#45;&gt;b</title><path fill="none" d="M1,2"/><text x="1">score</text><a xlink:href="#stages-score" xlink:title="x"><polygon points="0,0"/></a>',
      ),
    ),
  );
});

test("a script, a handler, a foreign link, a foreign object and a style are no plain drawing", () => {
  for (const inside of [
    "<script>alert(1)</script>",
    '<path onload="alert(1)"/>',
    '<a href="https://example.org"><text>x</text></a>',
    '<a xlink:href="javascript:alert(1)"></a>',
    '<a href="#x" xlink:href="https://example.org"></a>',
    "<foreignObject><form></form></foreignObject>",
    "<style>*{display:none}</style>",
    '<image href="#x"/>',
    '<path fill="url(https://example.org)"/>',
    '<a HREF="https://example.org"><text>x</text></a>',
    '<a xlink:HRef="https://example.org"><text>x</text></a>',
    '<path fill="&#117;rl(https://example.org)"/>',
    '<g style="position:fixed;inset:0"></g>',
    '<g style="fill:\\75 rl(https://example.org)"></g>',
    '<a href="#x" ping="https://example.org"></a>',
    "<path d='M1'/>",
    "<path d=x/>",
    "<!-- <script> -->",
    "<path",
  ])
    assert.ok(!isPlainDrawing(drawing(inside)), inside);
  assert.ok(!isPlainDrawing("<p>text</p>"));
});

test("what Graphviz draws of a graph is a plain drawing", async () => {
  const node = { state: "upToDate", durable: true, untrusted: true } as const;
  const svg = await graphSvg({
    title: "p (smoke) <b>",
    nodes: ["data", "score"].map((name) => ({
      ...node,
      ...{ id: name, name, lines: [name, "2 s & <more>"], href: `#stages-${name}` },
    })),
    edges: [{ from: "data", to: "score", outputs: ["private", "public"], private: true, kind: "needed" }],
  });
  assert.ok(isPlainDrawing(svg.slice(svg.indexOf("<svg"))), svg);
});
