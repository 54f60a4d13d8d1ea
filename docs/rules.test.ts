// docs/rules.md has each rule of each task, tests that exist, and the counts of the sample.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import { type TaskRule, taskManifest } from "@mlrb/formats/declared/task";
import { noLookAhead, plainTokenizer } from "@mlrb/formats/judged/verdict";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { mayDisqualify, ruleEvidence } from "@mlrb/kit/rules/rule-evidence";
import { YAML } from "zx";

const repository = join(import.meta.dirname, "..");
const path = join(import.meta.dirname, "rules.md");
const text = readFileSync(path, "utf8");

const rules: (TaskRule & { task: string })[] = readdirSync(join(repository, "tasks")).flatMap((task) => {
  const file = join(repository, "tasks", task, "task.yaml");
  if (!existsSync(file)) return [];
  const manifest = mustFollow(taskManifest, YAML.parse(readFileSync(file, "utf8")), file);
  return manifest.rules.map((rule) => ({ ...rule, task }));
});

const sections = new Map(
  [...text.matchAll(/^## `([^`]+)`\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(([, name, body]) => [
    name!,
    body!,
  ]),
);

test("each rule of a task.yaml is in the table, in the row of its method, with its severity and kind of data", () => {
  assert.ok(rules.length > 40, `${rules.length} rules`);
  for (const { task, name, method, severity, on } of rules) {
    const listed = new RegExp(`^\\| \\[\`${method}\`\\].* \\| (.*) \\|$`, "m").exec(text)?.[1] ?? "";
    const ofTask = listed.split(". ").find((one) => one.startsWith(`${task}: `)) ?? "";
    const others = rules.filter((one) => one.task === task && one.method === method && one.name === name);
    const kind = others.length === 1 && on ? `, ${on.join(", ")}` : "";
    assert.ok(ofTask.includes(`\`${name}\` (${severity}${kind})`), `${method}: ${task}: ${name}`);
  }
});

test("each section is of a method that a task uses, says its false alarms and misses, and has a test", () => {
  const used = new Set([noLookAhead, plainTokenizer, ...rules.map(({ method }) => method)]);
  assert.deepEqual([...sections.keys()].sort(), [...used].sort());
  for (const [name, body] of sections) {
    for (const part of ["Method", "False alarms", "Misses"])
      assert.match(body, new RegExp(`^\\*\\*${part}\\.\\*\\*`, "m"), `${name}: ${part}`);
    assert.match(text, new RegExp(`^\\| \`${name}\` \\| \`[^\`]+\`: "`, "m"), `${name}: a test`);
  }
});

test("each test that docs/rules.md names exists", () => {
  const named = [...text.matchAll(/`([^`]+\.(?:test\.ts|py))`: "([^"]+)"/g)];
  assert.ok(named.length > 20, `${named.length} tests`);
  for (const [, file, title] of named)
    assert.ok(readFileSync(join(repository, file!), "utf8").includes(title!), `${file}: ${title}`);
});

/** Answers of each method to the distinct submissions of the sample. */
function sampleTable(): string {
  const file = join(import.meta.dirname, "smoke/report.json");
  const { attempts } = mustFollow(reportFormat, readJson(file), file);
  const answers = new Map<string, Map<string, string>>();
  for (const { task, submission, verdict } of attempts) {
    if (!verdict || !submission || !("rules" in verdict)) continue;
    for (const { rule, answer: given, notMeasured } of verdict.rules) {
      const answer = notMeasured ? "fail" : given; // what the method itself says
      const method = rules.find((one) => one.task === task && one.name === rule)?.method ?? rule;
      const mine = answers.get(method) ?? new Map<string, string>();
      answers.set(method, mine.set(`${task} ${rule} ${submission}`, answer));
    }
  }
  const rows = [...answers].sort().map(([method, given]) => {
    const count = (answer: string) => [...given.values()].filter((one) => one === answer).length;
    const [failed, undecided] = [count("fail"), count("undecided")];
    const decided = given.size - undecided;
    const bound = decided === 0 ? "–" : `${(100 * exactInterval(failed, decided)[1]).toFixed(1)} %`;
    return `| \`${method}\` | ${failed} of ${decided} | ${undecided} | ${bound} |`;
  });
  const head = ["| method | failed | undecided | upper 95 % bound |", "| --- | --: | --: | --: |"];
  return `${[...head, ...rows].join("\n")}\n`;
}

/** What lets each method disqualify. */
function evidenceTable(): string {
  const rows = [...sections.keys()].sort().map((method) => {
    const evidence = ruleEvidence[method];
    if (!evidence) return `| \`${method}\` | – | – | no | |`;
    const { honest, falseAlarms, by, date } = evidence;
    const bound = exactInterval(falseAlarms, honest)[1];
    assert.equal(bound <= 0.05, mayDisqualify(method), method);
    const may = mayDisqualify(method) ? "yes" : "no";
    return `| \`${method}\` | ${falseAlarms} of ${honest} | ${(100 * bound).toFixed(1)} % | ${may} | \`${by}\`, ${date} |`;
  });
  const head = ["| method | false alarms | upper 95 % bound | may disqualify | measured by |"];
  return `${[...head, "| --- | --: | --: | --- | --- |", ...rows].join("\n")}\n`;
}

for (const [title, mark, table] of [
  ["the table of false alarms is what the sample's report gives", "<!-- false alarms", sampleTable],
  ["the table of what may disqualify is the one that verdicts use", "<!-- may disqualify", evidenceTable],
] as const)
  test(title, () => {
    const now = readFileSync(path, "utf8");
    const begin = now.indexOf(mark);
    const [from, end] = [now.indexOf("\n", begin) + 1, now.indexOf("<!-- end -->", begin)];
    const made = table();
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, now.slice(0, from) + made + now.slice(end));
    else assert.equal(now.slice(from, end), made, "UPDATE_GOLDEN=1 node --test docs/rules.test.ts");
  });
