// Labels of the plots stay in their picture and do not overlap.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { parseHTML } from "linkedom";
import { costFigures } from "./cost-figures.ts";
import { differenceRows } from "./difference-rows.ts";
import { differencesSvg } from "./differences-svg.ts";
import { figureData } from "./figure-data.ts";
import { figureSvg } from "./figure-svg.ts";
import { forestData } from "./forest-data.ts";
import { forestSvg, forms } from "./forest-svg.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../../docs/smoke/report.json"), "utf8"),
);
const texts = (markup: string) => [...parseHTML(markup).document.querySelectorAll("text")];
const place = (text: { getAttribute(name: string): string | null }) =>
  /\(([\d.]+),([\d.]+)\)/.exec(text.getAttribute("transform")!)!.slice(1).map(Number);

test("metrics at the left of the forest plot fit the margin, and those without a usable reference say so", () => {
  const data = forestData(sample);
  const labels = texts(forestSvg(data, "wide").markup)
    .filter((text) => text.parentElement!.getAttribute("text-anchor") === "end")
    .filter((text) => text.parentElement!.getAttribute("font-size") === "11")
    .map((text) => text.textContent);
  assert.equal(labels.length, data.tasks.length);
  assert.ok(labels.includes("worst-domain, own scale"), labels.join("; "));
  const widest = 6.1; // px of a character, on average, in 11 px of the usual sans-serif fonts
  for (const label of labels) assert.ok(label.length * widest <= forms.wide.marginLeft - 14, label);
});

test("a label of the longest length above a task's figure ends below the figure's upper edge", () => {
  const data = figureData(sample, "baby-lm")!;
  const name = "unigram (trivial baseline, a long name)";
  const lines = [{ ...data.lines[0]!, names: [name] }];
  const [label] = texts(figureSvg({ ...data, lines }, ["script-weak", "script-strong"]).markup).filter(
    (text) => text.textContent.startsWith("unigram"),
  );
  const [, y] = place(label!);
  const height = label!.firstChild!.textContent!.length * 7.2 * Math.sin((35 / 180) * Math.PI); // px of a character, in 13 px
  assert.ok(y! - 8 - height - 6 > 0, `it ends at ${y! - 8 - height}`);
});

test("a line above a task's figure has its first name and how many more, and all labels end inside of the picture", () => {
  const data = figureData(sample, "math-reasoning")!;
  const labels = texts(figureSvg(data, ["script-weak", "script-strong"]).markup).filter((text) =>
    text.getAttribute("transform")?.includes("rotate(-35"),
  );
  assert.deepEqual(
    labels.map((label) => label.firstChild!.textContent),
    ["copy-nearest (baseline) +2", "slot-filling", "gold-proofs (ref. model)"],
  );
  for (const label of labels) {
    const [x] = place(label);
    const width = label.firstChild!.textContent!.length * 7.2 * Math.cos((35 / 180) * Math.PI);
    assert.ok(x! + width < 560, `it ends at ${x! + width}`);
  }
});

test("no line of the cost figures crosses an agent's name", () => {
  const times = {
    attempts: sample.attempts.map((one) => ({ ...one, wallSeconds: one.agent === "script-weak" ? 60 : 90 })),
  };
  const { document } = parseHTML(costFigures(sample, times as never).markup);
  const names = [...document.querySelectorAll("text")].filter((text) => text.textContent === "script-weak");
  assert.equal(names.length, 1);
  const group = names[0]!.parentElement!;
  assert.equal(group.getAttribute("paint-order"), "stroke");
  assert.equal(group.getAttribute("stroke"), "var(--ground)");
});

test("next to the differences, a pair has a line for each agent, which the margin has room for", () => {
  const { document } = parseHTML(differencesSvg(differenceRows(sample), "wide").markup);
  const lines = [...document.querySelectorAll("tspan")].map((line) => line.textContent);
  assert.deepEqual(lines.slice(0, 2), ["script-strong", "− script-weak"]);
});

test("on a phone, the note of a difference is below the pair and not on it", () => {
  const drawn = texts(differencesSvg(differenceRows(sample), "narrow").markup);
  const pair = drawn.find((text) => text.textContent === "script-strong − script-weak")!;
  const note = drawn.find((text) => text.textContent.includes("too few attempts"))!;
  assert.ok(place(note)[1]! - place(pair)[1]! >= 12);
});
