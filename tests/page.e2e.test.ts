// report.html in a real browser: links open their target, by mouse and by keyboard; the page fits a phone, is
// readable in light, dark, print and by a screen reader, and sends no request.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { reportFormat } from "@mlrb/formats/report";
import { page as drawPage } from "@mlrb/report/page/page";
import { largeExample } from "@mlrb/report/testing/large-example";
import { pageExample, samplePage } from "@mlrb/report/testing/page-example";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { noChromium, startBrowser } from "./support/browser.ts";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const skip = noChromium;
const folder = mkdtempSync(join(tmpdir(), "mlrb-page-"));
const sample = join(import.meta.dirname, "..", "docs", "smoke", "report.json");
const pages = {
  nasty: join(folder, "nasty.html"),
  sample: join(folder, "sample.html"),
};
let browser: Browser;

before(async () => {
  if (skip) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(pages.nasty, drawPage(pageExample()));
  writeFileSync(pages.sample, drawPage(samplePage(JSON.parse(readFileSync(sample, "utf8")))));
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

type Looks = { width?: number; dark?: boolean };

/** Returns the page and its problems: errors, console messages, requests. */
async function open(file: string, { width = 1200, dark = false }: Looks = {}, hash = "") {
  const tab = await browser.newPage({
    viewport: { width, height: 800 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const trouble: string[] = [];
  tab.on("pageerror", (error) => trouble.push(error.message));
  tab.on("console", (message) => trouble.push(message.text()));
  tab.on("dialog", (dialog) => {
    trouble.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  tab.on("request", (request) => {
    if (request.url().split("#")[0] !== pathToFileURL(file).href) trouble.push(`asked for ${request.url()}`);
  });
  await tab.goto(pathToFileURL(file).href + hash);
  return { tab, trouble };
}

for (const [name, file] of Object.entries(pages)) {
  for (const dark of [false, true]) {
    test(`axe finds no problem on the ${name} page, ${dark ? "dark" : "light"}, closed or open`, {
      skip,
    }, async () => {
      const { tab, trouble } = await open(file, { dark });
      assert.deepEqual(await violations(tab), []);
      await tab.getByRole("button", { name: "Open everything" }).click();
      assert.deepEqual(await violations(tab), []);
      assert.deepEqual(trouble, []);
      await tab.close();
    });
  }

  test(`the ${name} page is no wider than a phone, and its tables scroll by themselves`, {
    skip,
  }, async () => {
    const { tab } = await open(file, { width: 360 });
    await tab.getByRole("button", { name: "Open everything" }).click();
    const [page, window] = (await tab.evaluate("[document.documentElement.scrollWidth, innerWidth]")) as [
      number,
      number,
    ];
    assert.ok(page <= window, `${page} in ${window}`);
    await tab.close();
  });

  test(`hostile text on the ${name} page has no effect, and the page sends no request`, {
    skip,
  }, async () => {
    const { tab, trouble } = await open(file);
    await tab.getByRole("button", { name: "Open everything" }).click();
    await tab.getByRole("button", { name: "Close everything" }).click();
    assert.equal(await tab.locator("main details[open]").count(), 0);
    assert.deepEqual(trouble, []);
    await tab.close();
  });
}

test("a map of more attempts than a phone is wide scrolls by itself", { skip }, async () => {
  const file = join(folder, "large.html");
  writeFileSync(file, drawPage(largeExample()));
  const { tab } = await open(file, { width: 360 });
  assert.ok(await tab.evaluate("document.querySelector('.scroll:has(.heat)').scrollWidth > innerWidth"));
  assert.equal(await tab.evaluate("document.documentElement.scrollWidth"), 360);
  await tab.close();
});

test("a click on a mean leads to its attempts, from there to the score's stage, and to that stage's inputs", {
  skip,
}, async () => {
  const { tab } = await open(pages.sample);
  const mean = tab.locator("section[aria-labelledby=section__Results] td a").first();
  const words = (await mean.textContent())!.split(" ")[0]!;
  await mean.click();
  const numbers = tab.locator("details:target");
  assert.ok((await numbers.locator("summary").first().textContent())!.includes(words));
  await numbers.locator("td a").first().click();
  const stage = tab.locator("details:target");
  assert.match((await stage.locator("summary code").first().textContent())!, /^score\[/);
  await stage.getByText("again").waitFor();
  await stage.locator("dd a").first().click();
  await tab.locator("details:target").waitFor();
  await tab.close();
});

test("the keyboard alone reaches a number, past the header, and the details behind it", {
  skip,
}, async () => {
  const { tab } = await open(pages.sample);
  await tab.keyboard.press("Tab");
  assert.equal(await focused(tab), "Skip to the results");
  await tab.keyboard.press("Enter");
  for (let presses = 0; !/^\d/.test(await focused(tab)); presses++) {
    assert.ok(presses < 40, "no number is reached");
    await tab.keyboard.press("Tab");
  }
  await tab.keyboard.press("Enter");
  await tab.locator("summary:focus").waitFor(); // waitForFunction would need eval, which the page forbids
  await tab.locator("details:target[open]").waitFor();
  await tab.keyboard.press("Enter");
  assert.equal(await tab.locator("details:target[open]").count(), 0);
  await tab.close();
});

test("a link from outside opens its target and all folders around it", { skip }, async () => {
  const first = await open(pages.sample);
  const id = await first.tab.locator("details.instance").nth(3).getAttribute("id");
  await first.tab.close();
  const { tab } = await open(pages.sample, {}, `#${id}`);
  await tab.locator("details:target[open]").waitFor();
  await tab.close();
});

test("instances can be filtered by name", { skip }, async () => {
  const { tab } = await open(pages.sample, {}, "#tab-provenance");
  const all = await tab.locator("details.instance").count();
  await tab.getByLabel("Show instances whose name contains").fill("attempt[task=baby");
  const shown = await tab.locator("details.instance:visible").count();
  assert.ok(shown > 0 && shown < all, `${shown} of ${all}`);
  assert.equal(await tab.getByRole("status").textContent(), `${shown} of ${all}`);
  await tab.close();
});

test("a printed page has the tables and figures, but no controls", { skip }, async () => {
  const { tab } = await open(pages.sample, { dark: true });
  await tab.emulateMedia({ media: "print" });
  assert.equal(await tab.getByRole("button", { name: "Open everything" }).isVisible(), false);
  assert.equal(await tab.locator("figure svg").first().isVisible(), true);
  const colours = await tab.evaluate(
    "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]",
  );
  assert.deepEqual(colours, ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
  await tab.close();
});

const repository = throwAwayRepository();
after(() => repository.remove());

test("a run writes the page next to its report, again if any stage ran, and `report` writes a missing page", async (t) => {
  const at = lab(t, repository);
  const define = (word: string) =>
    at.define({
      axes: {
        task: ["baby-lm"],
        agent: ["script-weak", "script-strong"],
        seed: [1, 2],
        scorer: ["bits-per-byte"],
      },
      stages: {
        score: {
          each: ["task", "agent", "seed", "scorer"],
          command: "echo {params.word} said {agent} | tee {outputs.score}",
          params: { word },
          gives: { score: "file" },
        },
        report: {
          collect: ["score.score"],
          command: `mkdir -p {outputs.report} && cp '${sample}' {outputs.report}/report.json`,
          gives: { report: "dir" },
        },
      },
    });
  define("first");
  assert.equal((await at.run()).code, 0);
  const path = join(at.root, "results", at.name, "default", "report.html");
  const drawn = readFileSync(path, "utf8");
  assert.ok(drawn.includes("score[task=baby-lm,agent=script-weak,seed=1,scorer=bits-per-byte]"));
  assert.ok(drawn.includes("first said script-weak"));
  assert.ok(drawn.includes(`pnpm pipeline run ${at.name} --only`));
  assert.ok(!drawn.includes(at.root), "the page names no folder of this machine");

  define("second");
  assert.equal((await at.run()).code, 0);
  assert.ok(readFileSync(path, "utf8").includes("second said script-weak"));
  assert.equal((await at.run()).code, 0);
  assert.ok(
    readFileSync(path, "utf8").includes("second said script-weak"),
    "nothing ran, and the page stays",
  );

  rmSync(path);
  const shown = await at.pipeline(["report", at.name, "--root", at.root, "--json"]);
  assert.equal(shown.code, 0, shown.stderr);
  assert.ok(JSON.parse(shown.stdout).files.includes("report.html"));
  assert.ok(readFileSync(path, "utf8").includes("second said script-weak"));
  rmSync(path);
  assert.equal((await at.run()).code, 0);
  assert.ok(
    readFileSync(path, "utf8").includes("second said script-weak"),
    "a run that reuses all misses it",
  );
});

test("a page that cannot be made is reported and does not fail the run", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      report: {
        command: `mkdir -p {outputs.report} && echo '{"formatVersion":${reportFormat}}' > {outputs.report}/report.json`,
        gives: { report: "dir" },
      },
    },
  });
  const { code, stderr } = await at.run();
  assert.equal(code, 0);
  assert.match(stderr, /no-page: .*report\.html could not be written/);
});

async function focused(tab: Page): Promise<string> {
  return (await tab.evaluate("document.activeElement.textContent")) as string;
}

/** The problems that axe finds, one per line. */
async function violations(tab: Page): Promise<string[]> {
  // the page's own policy allows only its own script; axe comes through the debugger
  await tab.evaluate(axe.source);
  const found = (await tab.evaluate("axe.run()")) as axe.AxeResults;
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")}: ${failureSummary}`),
  );
}
