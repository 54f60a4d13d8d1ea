// Labels of the plots stay in their picture and do not overlap.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { parseHTML } from "linkedom";
import { differenceRows } from "./difference-rows.ts";
import { differencesSvg } from "./differences-svg.ts";
import { forestData } from "./forest-data.ts";
import { forestSvg, forms } from "./forest-svg.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../../docs/sample/report.json"), "utf8"),
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

test("on a phone, the note of a difference is below the pair and not on it", () => {
  const drawn = texts(differencesSvg(differenceRows(sample), "narrow").markup);
  const pair = drawn.find((text) => text.textContent === "reference − minimal")!;
  const note = drawn.find((text) => text.textContent.includes("too few attempts"))!;
  assert.ok(place(note)[1]! - place(pair)[1]! >= 12);
});
