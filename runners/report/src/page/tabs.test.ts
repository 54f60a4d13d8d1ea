import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { sections } from "../sections/sections.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { pageExample } from "../testing/page-example.ts";
import { page } from "./page.ts";
import { tabOf, tabs } from "./tabs.ts";

test("every section of the report is in one tab of the page", () => {
  const { document } = parseHTML(page(pageExample()));
  const shown = [...document.querySelectorAll(".panel h2")].map(({ textContent }) => textContent);
  for (const { heading } of sections(nastyExample().report()))
    assert.equal(shown.filter((one) => one === heading).length, 1, heading);
});

test("a section with the data's label in its heading is found, and a new one is under Statistics", () => {
  assert.equal(tabOf({ heading: "Research (official)" }), "over-time");
  assert.equal(tabOf({ heading: "Secondary measurements (smoke)" }), "results");
  assert.equal(tabOf({ heading: "Something new" }), "statistics");
});

test("each tab holds sections of the report or a figure of its own", () => {
  const { document } = parseHTML(page(pageExample()));
  for (const { id } of tabs) assert.ok(document.querySelector(`#tab-${id} section`), id);
});
