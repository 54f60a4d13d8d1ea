// Labels of the plots stay in their picture and do not overlap.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { parseHTML } from "linkedom";
import { costFigures } from "./cost-figures.ts";
import { forestData } from "./forest-data.ts";
import { forestSvg, forms } from "./forest-svg.ts";
import { rankedData } from "./ranked-data.ts";
import { rankedSvg } from "./ranked-svg.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../../docs/smoke/report.json"), "utf8"),
);
const texts = (markup: string) => [...parseHTML(markup).document.querySelectorAll("text")];
type Moved = { getAttribute(name: string): string | null };
const moved = (one: Moved) =>
  /\((-?[\d.]+),(-?[\d.]+)\)/
    .exec(one.getAttribute("transform") ?? "(0,0)")!
    .slice(1)
    .map(Number);
/** In the picture: a text's own place, moved with its group. */
const place = (text: Moved & { parentElement: Moved | null }) => {
  const by = moved(text.parentElement!);
  return moved(text).map((own, side) => own + by[side]!);
};

test("metrics at the left of the forest plot fit the margin, and those without a usable reference say so", () => {
  const data = forestData(sample);
  const labels = texts(forestSvg(data, "wide").markup)
    .filter((text) => text.parentElement!.getAttribute("text-anchor") === "end")
    .filter((text) => text.parentElement!.getAttribute("font-size") === "11")
    .map((text) => text.textContent);
  assert.equal(labels.length, data.tasks.length);
  assert.ok(labels.includes("worst-domain, own unit"), labels.join("; "));
  const widest = 6.1; // px of a character, on average, in 11 px of the usual sans-serif fonts
  for (const label of labels) assert.ok(label.length * widest <= forms.wide.marginLeft - 14, label);
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

test("a bar's note is below it in both forms, and inside of the picture", () => {
  for (const form of ["wide", "narrow"] as const) {
    const drawn = texts(rankedSvg(sample, rankedData(sample), { form }).markup);
    const note = drawn.find((text) => text.textContent.includes("too few attempts"))!;
    const value = drawn.filter((text) => /^0\.\d\d$/.test(text.textContent)).at(-1)!;
    const [x, y] = place(note);
    assert.ok(y! - place(value)[1]! >= 12, form);
    const lines = [...note.querySelectorAll("tspan")].map((line) => line.textContent);
    for (const line of lines.length > 0 ? lines : [note.textContent])
      assert.ok(x! + line.length * 5.6 <= forms[form].width, `${form}: ${line}`);
  }
});

test("a task without a usable reference model has no mark on the shared axis, but its values as text", () => {
  const [own] = forestData(sample).tasks.filter(({ scale }) => scale === "own");
  const data = { ...forestData(sample), tasks: [own!] };
  const { document } = parseHTML(forestSvg(data, "wide").markup);
  const marks = document.querySelectorAll('[fill^="var(--agent"], [stroke^="var(--agent"]');
  assert.ok(
    [...marks].every(
      (mark) => mark.querySelector("path, circle, line") === null && !/^(path|circle)$/.test(mark.localName),
    ),
  );
  const shown = texts(forestSvg(data, "wide").markup).map((text) => text.textContent);
  for (const { words } of own!.agents) {
    const value = words.split(" ")[1]!;
    assert.ok(
      shown.some((text) => text.includes(value)),
      `${value}: ${shown.join("; ")}`,
    );
  }
});
