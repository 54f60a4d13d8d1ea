// A stranger's questions to report.html in a real browser, each answered within two clicks; its tabs, table and
// search; and a page as large as the published protocol makes it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { page as drawPage } from "@mlrb/report/page/page";
import { largeExample } from "@mlrb/report/testing/large-example";
import { samplePage } from "@mlrb/report/testing/page-example";
import { deadAttempt, threeModels, threeStagesFailed } from "@mlrb/report/testing/question-pages";
import type { Browser, Page } from "playwright-core";
import { noChromium, startBrowser } from "./support/browser.ts";

const skip = noChromium;
const folder = mkdtempSync(join(tmpdir(), "mlrb-questions-"));
const reportOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", "docs", name, "report.json"), "utf8"));
const pages = {
  smoke: join(folder, "smoke.html"),
  sample: join(folder, "sample.html"),
  large: join(folder, "large.html"),
  failed: join(folder, "failed.html"),
  dead: join(folder, "dead.html"),
  models: join(folder, "models.html"),
};
let browser: Browser;

before(async () => {
  if (skip) return;
  writeFileSync(pages.smoke, drawPage(samplePage(reportOf("smoke"))));
  writeFileSync(pages.sample, drawPage(samplePage(reportOf("sample"))));
  writeFileSync(pages.large, drawPage(largeExample()));
  writeFileSync(pages.failed, drawPage(threeStagesFailed()));
  writeFileSync(pages.dead, drawPage(deadAttempt()));
  writeFileSync(pages.models, drawPage(threeModels()));
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

async function open(file: string, hash = "", width = 1280): Promise<Page> {
  const tab = await browser.newPage({ viewport: { width, height: 800 }, reducedMotion: "reduce" });
  await tab.goto(pathToFileURL(file).href + hash);
  return tab;
}

const tabNamed = (tab: Page, name: string) => tab.getByRole("tab", { name, exact: true });

/** A page hears of the new part of its address a moment after the key, the click or the step back. */
const chosen = (tab: Page, name: string) => tab.getByRole("tab", { name, selected: true }).waitFor();

/** Whether all of an element is on the first screen. */
async function isOnScreen(tab: Page, selector: string): Promise<boolean> {
  const box = await tab.locator(selector).first().boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= 800;
}

const questions = ["who-won", "is-it-real", "cost", "went-wrong", "agents"];

for (const name of ["smoke", "sample", "failed", "dead", "models", "large"] as const)
  test(`the five answers of the page ${name} are on the first screen, with the beginning of the plot`, {
    skip,
  }, async () => {
    const tab = await open(pages[name]);
    for (const id of questions) assert.ok(await isOnScreen(tab, `.answers #${id}`), id);
    const plot = (await tab.locator(".panel.shown figure svg:visible").first().boundingBox())!;
    // above the score over time is its heading
    assert.ok(plot.y < (name === "sample" ? 700 : 650), String(plot.y));
    await tab.close();
  });

test("who won is on the first screen, with what was run, a row for each task and a square for each attempt", {
  skip,
}, async () => {
  const tab = await open(pages.smoke);
  assert.match(
    (await tab.locator(".headline").textContent())!,
    /script-strong has the better mean at 7 of 7 tasks \(1 to 2 attempts each\)/,
  );
  assert.deepEqual(await tab.locator(".badge").allTextContents(), [
    "smoke: practice data, do not cite",
    "24 of 24 attempts",
    "2026-01-02",
    "commit 0123456789",
  ]);
  for (const shown of [".headline", ".badge.warning", ".forest .wide svg >> nth=0", "table.heat"])
    assert.ok(await isOnScreen(tab, shown), shown);
  const drawn = (await tab.locator(".forest .wide svg").first().getAttribute("aria-label"))!;
  for (const { name } of reportOf("smoke").tasks) assert.ok(drawn.includes(`${name}`), name);
  assert.equal(await tab.locator("table.heat a").count(), 24);
  await tab.close();
});

test("whether it is real is in the next sentence, and the tests are one click away", { skip }, async () => {
  const tab = await open(pages.smoke);
  assert.match(
    (await tab.locator(".finding").first().textContent())!,
    /the agents differ at some task \(p = 6\.4e-5, smallest possible 6\.4e-5\)/,
  );
  await tabNamed(tab, "Statistics").click();
  await tab.getByRole("heading", { name: "Agents compared over all tasks" }).waitFor();
  await tab.getByRole("cell", { name: "6.4e-5" }).first().waitFor();
  await tab.close();
});

test("what it cost is one click away", { skip }, async () => {
  const tab = await open(pages.large);
  await tabNamed(tab, "Cost").click();
  await tab.getByText("Score against dollars").waitFor();
  const words = (await tab.locator("#panel-cost figure svg").first().getAttribute("aria-label"))!;
  assert.match(
    words,
    /supervisor: normalised mean 0\.57, dollars unknown.*On the Pareto line: script-weak, one-loop$/,
  );
  await tab.close();
});

test("where attempts failed is on the first screen; a click opens the attempt, two list them all", {
  skip,
}, async () => {
  const tab = await open(pages.large);
  const failed = tab.locator("table.heat a.failed");
  assert.equal(await failed.count(), 8);
  await failed.first().click();
  const attempt = tab.locator("details.attempt:target");
  assert.match((await attempt.locator("summary").first().textContent())!, /disqualified/);
  await attempt.getByText("equals known weights").waitFor();
  await chosen(tab, "Attempts");
  await tabNamed(tab, "Attempts").click();
  await tab.getByLabel("with verdict").selectOption("disqualified");
  assert.equal(await tab.locator("table.sortable tbody tr:visible").count(), 8);
  assert.equal(await tab.locator("#attempts-shown").textContent(), "8 of 105 attempts");
  await tab.close();
});

test("where a number comes from is two clicks away: its attempts, then the stage that measured one", {
  skip,
}, async () => {
  const tab = await open(pages.smoke);
  await tab.locator("section[aria-labelledby=section__Results] td a").first().click();
  await tab.locator("details:target td a").first().click();
  const stage = tab.locator("details:target");
  assert.match((await stage.locator("summary code").first().textContent())!, /^score\[/);
  await chosen(tab, "Provenance");
  await tab.close();
});

test("tabs follow the arrow keys, and choosing one does not scroll its page away", { skip }, async () => {
  const tab = await open(pages.smoke);
  await tabNamed(tab, "Results").focus();
  await tab.keyboard.press("ArrowRight");
  await chosen(tab, "Attempts");
  assert.equal(await tab.locator(".panel:visible").count(), 1);
  await tab.keyboard.press("End");
  await tab.getByLabel("Show instances whose name contains").waitFor();
  assert.equal(await tab.evaluate("scrollY"), 0);
  await tab.goBack();
  await chosen(tab, "Attempts");
  await tab.close();
});

test("Back returns to the tab, the attempt and the place that the reader left", { skip }, async () => {
  const tab = await open(pages.large);
  await tab.mouse.move(640, 700);
  await tab.mouse.wheel(0, 300);
  await tab.waitForTimeout(400); // the place is kept once the page stands still
  const place = (await tab.evaluate("scrollY")) as number;
  assert.ok(place > 200);
  await tab.locator("table.heat a.failed").first().click();
  await tab.locator("details.attempt:target[open]").waitFor();
  const first = tab.url();
  await tab.goBack();
  await chosen(tab, "Results");
  assert.equal(await tab.evaluate("scrollY"), place);
  await tab.goForward();
  await tab.locator("details.attempt:target[open]").waitFor();
  await tabNamed(tab, "Cost").click();
  await chosen(tab, "Cost");
  await tab.goBack();
  await chosen(tab, "Attempts");
  assert.equal(tab.url(), first);
  assert.ok(await tab.locator("details.attempt:target[open]").isVisible());
  await tab.close();
});

for (const name of ["smoke", "sample", "large"] as const)
  test(`of the page ${name}, Results has at most four screens, all tabs under 10 000 words, and captions one line`, {
    skip,
  }, async () => {
    const tab = await open(pages[name]);
    let words = 0;
    for (const one of ["Results", "Attempts", "Cost", "Over time", "Statistics", "Provenance"]) {
      await tabNamed(tab, one).click();
      await chosen(tab, one);
      const height = (await tab.evaluate("document.documentElement.scrollHeight")) as number;
      if (one === "Results") assert.ok(height <= 4 * 800, String(height));
      words += (await tab.evaluate(
        "document.querySelector('.panel.shown').innerText.split(/\\s+/).length",
      )) as number;
      const long = await tab
        .locator(".panel.shown :is(p.caption, details.caption > summary)")
        .evaluateAll((all) => all.filter((each) => each.clientHeight > 30).map((each) => each.textContent));
      assert.deepEqual(long, [], one);
    }
    assert.ok(words < 10_000, String(words));
    await tab.close();
  });

test("the table of attempts is sorted by number and filtered by text, and an unknown number is last", {
  skip,
}, async () => {
  const tab = await open(pages.large, "#tab-attempts");
  const column = (at: number) =>
    tab.locator(`table.sortable tbody tr:visible > :nth-child(${at})`).allTextContents();
  await tab.getByRole("button", { name: "normalised" }).click();
  const up = (await column(6)).filter((text) => text !== "–").map(Number);
  assert.deepEqual(
    up,
    [...up].sort((a, b) => a - b),
  );
  await tab.getByRole("button", { name: "normalised" }).click();
  const down = await column(6);
  assert.ok(Number(down[0]) >= up.at(-1)! && down.at(-1) === "–");
  await tab.getByLabel("Show attempts that contain").fill("one-loop");
  assert.deepEqual([...new Set(await column(2))], ["one-loop"]);
  await tab.close();
});

test("what happened in an attempt is two clicks away, and can be searched", { skip }, async () => {
  const tab = await open(pages.smoke, "#attempt__baby-lm__script-strong__1");
  const attempt = tab.locator("details.attempt:target");
  await attempt.locator("details.story > summary").click();
  assert.ok(await attempt.locator("li.bad .said", { hasText: "python3 train.py" }).isVisible());
  await attempt.getByLabel("Search this story").fill("larger");
  assert.equal(await attempt.locator("ol > li:visible").count(), 1);
  await tab.close();
});

test("attempts are cards on a phone, and the plot has the names of tasks above its rows", {
  skip,
}, async () => {
  const tab = await open(pages.large, "", 390);
  assert.ok(await tab.locator(".forest .narrow svg").first().isVisible());
  assert.equal(await tab.locator(".forest .wide svg").first().isVisible(), false);
  await tabNamed(tab, "Attempts").click();
  const card = await tab.locator("table.cards tbody tr").first().boundingBox();
  assert.ok(card!.width <= 390 && card!.height > 100);
  assert.ok((await tab.evaluate("document.documentElement.scrollWidth <= innerWidth")) as boolean);
  await tab.close();
});

test("on a phone, the chosen tab is in sight, and the rules of an attempt are cards", { skip }, async () => {
  const tab = await open(pages.smoke, "#tab-provenance", 390);
  const box = (await tabNamed(tab, "Provenance").boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= 390, `${box.x} to ${box.x + box.width}`);
  await tab.goto(`${tab.url().split("#")[0]}#attempt__baby-lm__script-weak__1`);
  const rules = tab.locator("details.attempt:target table.rules");
  const evidence = (await rules.locator("tbody tr:first-child td[data-label=evidence] span").boundingBox())!;
  assert.ok(evidence.width > 150 && evidence.x + evidence.width <= 390, JSON.stringify(evidence));
  await tab.close();
});

test("paper has the first two tabs", { skip }, async () => {
  const tab = await open(pages.smoke, "#tab-cost");
  await tab.emulateMedia({ media: "print" });
  assert.deepEqual(await tab.locator(".panel:visible").evaluateAll((all) => all.map((each) => each.id)), [
    "panel-results",
    "panel-attempts",
  ]);
  await tab.close();
});

test("a page of 105 attempts of 20 000 events has at most 10 MB and shows its first screen within a second", {
  skip,
}, async () => {
  assert.ok(statSync(pages.large).size <= 10e6, String(statSync(pages.large).size));
  const times: number[] = [];
  // the best of three: the machine has other work
  for (let tries = 0; tries < 3 && !(Math.min(...times) < 1000); tries++) {
    const tab = await open(pages.large);
    times.push(
      (await tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")) as number,
    );
    await tab.close();
  }
  assert.ok(Math.min(...times) < 1000, times.join(", "));
});
