import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { hostileText, pageExample, samplePage } from "../testing/page-example.ts";
import { attemptsTable } from "./attempts-table.ts";
import { pageHead } from "./first-screen.ts";
import { idOf } from "./html.ts";
import { page } from "./page.ts";
import { sectionHtml } from "./section-html.ts";

const golden = join(import.meta.dirname, "..", "..", "golden", "nasty.html.txt");
const text = page(pageExample());
const { document } = parseHTML(text);

test("the nasty run's page is, byte for byte, golden/nasty.html.txt", () => {
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
  assert.equal(text, readFileSync(golden, "utf8"));
  assert.equal(page(pageExample()), text);
});

test("a difference over some of the tasks is not under a head of all", () => {
  assert.match(document.querySelector(".forest")!.textContent, /Over tasks.*1 of 2 tasks/s);
  assert.doesNotMatch(document.querySelector(".forest")!.textContent, /All tasks/);
});

test("hostile text is shown and never becomes an element", () => {
  assert.equal(document.querySelectorAll("script").length, 1);
  assert.equal(document.querySelectorAll("img, iframe, object, link, form, base").length, 0);
  const visible = hostileText.replaceAll("\u202e", "\ufffd").replaceAll("\u0000", "␀");
  assert.ok(document.querySelector("main")!.textContent.includes(visible));
});

test("the page loads no other file", () => {
  for (const each of document.querySelectorAll("*"))
    for (const { name, value } of each.attributes) {
      if (["src", "srcset", "action", "data", "poster", "background"].includes(name))
        assert.fail(`${name}=${value}`);
      if (name.endsWith("href")) assert.match(value, /^#/);
      assert.doesNotMatch(name, /^on/);
    }
  assert.doesNotMatch(document.querySelector("style")!.textContent, /url\(|@import/);
});

for (const [name, data] of Object.entries({
  nasty: pageExample(),
  sample: samplePage(
    JSON.parse(readFileSync(join(import.meta.dirname, "../../../../docs/smoke/report.json"), "utf8")),
  ),
})) {
  test(`every link of the ${name} page leads somewhere, and no two places share an id`, () => {
    const { document: drawn } = parseHTML(page(data));
    const ids = [...drawn.querySelectorAll("[id]")].map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      [],
    );
    const known = new Set(ids);
    const links = [...drawn.querySelectorAll("a[href]")].map((link) => link.getAttribute("href")!.slice(1));
    assert.deepEqual(
      links.filter((id) => !known.has(id)),
      [],
    );
  });

  test(`every mean of the ${name} page leads to its attempts, and each score to the stage that measured it`, () => {
    const { document: drawn } = parseHTML(page(data));
    for (const { task, agent, metric, mean } of data.report.cells) {
      const place = [...drawn.querySelectorAll("details")].find(
        ({ firstElementChild }) =>
          // a head may name the unit: `task, peak-bytes, MB ↓, agent`
          /^(, \w+)? [↑↓]/.test(firstElementChild!.textContent.replace(`${task}, ${metric}`, "")) &&
          firstElementChild!.textContent.includes(`, ${agent}: `),
      )!;
      const leads = [...place.querySelectorAll("td a")].map((link) => link.getAttribute("href")!);
      const scored = data.report.attempts.filter(
        (attempt) =>
          attempt.task === task && attempt.agent === agent && attempt.scores[metric]?.kind === "scored",
      );
      assert.ok(leads.length >= scored.length, `${task} ${metric} ${agent} ${mean}`);
      assert.ok(drawn.querySelector(`a[href="#${place.id}"]`), `nothing leads to ${place.id}`);
    }
  });
}

test("instances of one action are described once, and the others link there", () => {
  const data = pageExample();
  const [one, two] = data.instances.filter(({ stage, made }) => stage === "score" && made);
  const { document: drawn } = parseHTML(
    page({
      ...data,
      instances: data.instances.map((each) => (each === two ? { ...each, made: one!.made } : each)),
    }),
  );
  const place = drawn.getElementById(idOf("stage", two!.id))!;
  assert.equal(place.querySelector("a")!.getAttribute("href"), `#${idOf("stage", one!.id)}`);
  assert.equal(place.querySelector("dl"), null);
});

test("the score over time is the first figure of Results", () => {
  const first = document.querySelector("#tab-results figure")!;
  assert.equal(first.closest("section")!.getAttribute("aria-labelledby"), "over-time");
});

test("the figure of the score over time has a description in words that names failures", () => {
  const [letters, numbers] = [...document.querySelectorAll('[aria-labelledby="over-time"] svg')].map((svg) =>
    svg.getAttribute("aria-label"),
  );
  assert.match(
    letters!,
    /plain at 5%: 3\.055 \(2, 1 none yet\), from 3\.040 to 3\.070; .*strong at 5%: 3\.070 \(2, 2 failed\); strong at 50%: 2\.600 \(1 of 2\); .*trivial baseline 3\.070$/,
  );
  assert.match(numbers!, /plain at 75%: 0\.750 \(1 of 2\)/);
});

test("the page of a report without attempts states that none were planned", () => {
  const data = pageExample();
  const report = {
    ...data.report,
    tasks: [],
    agents: [],
    attempts: [],
    cells: [],
    rows: [],
    comparisons: [],
    agentComparisons: [],
  };
  report.coverage = {
    ...report.coverage,
    attempts: { planned: 0, pass: 0, disqualified: 0, rejected: 0, undecided: 0, missing: 0 },
    gaps: [],
  };
  assert.match(page({ ...data, report, instances: [], stories: [] }), /No attempts were planned\./);
});

test("a stage that waited in a scheduler's queue says so apart from its duration", () => {
  const data = pageExample();
  const [first, ...others] = data.instances.filter(({ made }) => made);
  const { ran } = first!.made!;
  const made = { ...first!.made!, ran: { ...ran, where: { node: "n1", queued: "3 m 0 s" } } };
  const drawn = page({ ...data, instances: [{ ...first!, made }, ...others] });
  assert.equal(drawn.match(/, 1 m 1 s, queued 3 m 0 s before/g)?.length, 1);
});

test("an attempt says the peak of GPU memory with its GPU hours, and nothing where it is unknown", () => {
  const data = pageExample();
  const times = data.times!;
  const textWith = (gpuMemoryPeakMiB: number | null) => {
    const attempts = times.attempts.map((one) => ({ ...one, gpuHours: 24, gpuMemoryPeakMiB }));
    return page({ ...data, times: { ...times, attempts } });
  };
  assert.match(textWith(38_912), /, 24 GPU hours, up to 38912 MiB of memory on a GPU \(polled\)/);
  assert.doesNotMatch(textWith(null), /MiB of memory on a GPU/);
});

test("one attempt is counted in the singular, and numbers of tables have a minus sign", () => {
  const data = pageExample();
  const [attempt] = data.report.attempts;
  const report = structuredClone({ ...data.report, attempts: [attempt!] });
  report.coverage.attempts = { ...report.coverage.attempts, planned: 1, missing: 0 };
  const drawn = pageHead({ ...data, report }).markup + attemptsTable(report, null).markup;
  assert.match(drawn, /1 of 1 attempt<[\s\S]*>1 attempt</);
  const row = [{ lines: ["1e-4"] }, { lines: ["-0.5 [-1, .2]"] }];
  const columns = [
    { head: "name", rigid: false },
    { head: "value", rigid: true },
  ];
  const tables = [{ title: "", columns, groups: [{ title: "", rows: [row] }] }];
  const shown = sectionHtml({ heading: "x", caption: "", items: [], tables } as never).markup;
  assert.match(shown, /1e-4<.*−0\.5 \[−1, \.2\]</);
});

test("the command that freezes a protocol is shown as code", () => {
  const { document: drawn } = parseHTML(
    page({ ...pageExample(), protocol: { kind: "none", freeze: "freeze it" } }),
  );
  assert.equal(drawn.querySelector("#section__Protocol + .caption code")!.textContent, "freeze it");
});

test("a page is light on paper, also where the reader's screen is dark", () => {
  const dark = [...text.matchAll(/@media ([^{]*)\{:root/g)].map(([, media]) => media);
  assert.deepEqual(dark, ["screen and (prefers-color-scheme:dark)"]);
});
