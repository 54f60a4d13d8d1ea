// Follows docs/authors.md (a scorer), docs/agents.md (a program), docs/reuse.md and docs/guide.md (rescore)
// exactly: writes the files that they show, no others, and runs their commands. One repository and one state
// folder, as a reader would have.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { recordsIn } from "./support/end-state.ts";
import { outcomes, reasons } from "./support/lab.ts";
import { type Line, type ProgramOutput, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-guides-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);

const pipeline = (...args: string[]): Promise<ProgramOutput> => startProgram(repository.path, args).ended;
const guide = (name: string) => readFileSync(join(import.meta.dirname, "../docs", name), "utf8");

/** The files that a guide shows, in its order, with their paths. */
function shown(text: string): { path: string; content: string }[] {
  return [...text.matchAll(/^```(?:yaml|python|ts|markdown) (\S+)\n(.*?)^```$/gms)].map(
    ([, path, content]) => ({
      path: path!,
      content: content!,
    }),
  );
}

/** Applies the only diff that a guide shows, as its reader does, and returns the file that it changes. */
function applyDiff(text: string): string {
  const [diff, ...others] = [...text.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, content]) => content!);
  assert.deepEqual(others, []);
  execFileSync("git", ["apply", "-"], { cwd: repository.path, input: diff! });
  return diff!.match(/^\+\+\+ b\/(\S+)$/m)![1]!;
}

/** The commands that a guide shows, split into words; each begins with `./mlrb`. */
function commands(text: string): string[][] {
  return [...text.matchAll(/^\.\/mlrb (.+)$/gm)].map(([, line]) =>
    [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => (quoted ?? bare)!),
  );
}

/** The part of a page below a heading of the second level. */
function section(page: string, heading: string): string {
  return page.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`))!;
}

async function follow(words: string[]): Promise<ProgramOutput> {
  const said = await pipeline(...words, ...(words[0] === "check" ? [] : ["--json", "--root", root]));
  assert.equal(said.code, 0, `${words.join(" ")}\n${said.stdout}${said.stderr}`);
  return said;
}

/** The report that a command wrote. */
function report(said: ProgramOutput): Line {
  const { results } = said.lines.findLast(({ event }) => event === "summary")!;
  return JSON.parse(readFileSync(join(root, results, "report.json"), "utf8"));
}

const ranIn = (said: ProgramOutput) =>
  Object.entries(outcomes(said))
    .filter(([, outcome]) => outcome === "succeeded")
    .map(([stage]) => stage);

test("the agent from the guide attempts a task, keeps its rules and is scored", {
  timeout: 15 * 60_000,
}, async () => {
  const text = section(guide("agents.md"), "Your own program");
  const files = shown(text);
  assert.equal(files.length, 2);
  for (const { path, content } of files) repository.write(path, content);
  const [check, run] = commands(text);
  await follow(check!);
  const { attempts } = report(await follow(run!));
  assert.deepEqual(
    attempts.map(({ agent, verdict }: Line) => [agent, verdict.kind]),
    [["patient", "pass"]],
  );
  const { value } = attempts[0].scores["bits-per-byte"];
  assert.ok(value > 0 && value < 8, "it has learnt something of English bytes");
});

const measure = "scorers/bits-per-byte/measure.py";
const actions = async (words: string[]) => Object.entries(outcomes(await follow(words)));

test("as its guide claims, a comment reruns nothing, and a number can be traced to its attempt", {
  timeout: 15 * 60_000,
}, async () => {
  const text = guide("reuse.md");
  const [first, planned, trace, ...more] = commands(text);
  assert.deepEqual(more, []);
  assert.deepEqual(shown(text), []);

  await follow(first!);
  assert.deepEqual(new Set((await actions(planned!)).map(([, action]) => action)), new Set(["reuse"]));
  assert.equal(applyDiff(text), measure);
  assert.deepEqual(new Set((await actions(planned!)).map(([, action]) => action)), new Set(["reuse"]));
  await tracedToAttempt(trace!);
});

test("the scorer correction from the guide measures stored submissions again, and nothing else runs", {
  timeout: 15 * 60_000,
}, async () => {
  const text = section(guide("guide.md"), "Rescore");
  const [planned, explain, again, trace, ...more] = commands(text);
  assert.deepEqual(more, []);
  assert.deepEqual(shown(text), []);

  assert.equal(applyDiff(text), measure);
  const would = (await actions(planned!)).filter(([, action]) => action !== "reuse").map(([stage]) => stage);
  for (const stage of would) assert.match(stage, /^(report$|(score|references)\[.*scorer=bits-per-byte\])/);
  assert.ok(would.includes("report") && would.length > 3);
  const explained = await follow(explain!);
  assert.ok(explained.lines.some(({ reasons: why }) => why.some(({ file }: Line) => file === measure)));

  const records = recordsIn(root).length;
  const said = await follow(again!);
  assert.deepEqual(ranIn(said).sort(), would.sort());
  assert.ok(
    reasons(said, would.find((stage) => stage.startsWith("score["))!).some(({ file }) => file === measure),
  );
  assert.equal(recordsIn(root).length, records);
  const { attempts } = report(said);
  for (const { scores } of attempts) assert.equal(scores["bits-per-byte"].extra.documents, 25);
  const cell = await tracedToAttempt(trace!);
  assert.ok(Object.keys(cell.nodes[0].parts.code).includes(measure));
});

async function tracedToAttempt(words: string[]): Promise<Line> {
  const [cell] = (await follow(words)).lines;
  assert.deepEqual([cell!.outdated, cell!.missing], [false, []]);
  assert.ok(
    cell!.nodes.some(({ stage }: Line) => stage === "attempt[task=baby-lm,agent=script-strong,seed=1]"),
  );
  return cell!;
}

test("the scorer from the guide scores existing attempts, and no attempt and no other score runs", {
  timeout: 15 * 60_000,
}, async () => {
  const text = section(guide("authors.md"), "Add a scorer");
  const files = shown(text);
  assert.equal(files.length, 3);
  for (const { path, content } of files) {
    assert.match(path, /^scorers\/first-window\//);
    repository.write(path, content);
  }
  assert.equal(applyDiff(text), "tasks/baby-lm/task.yaml");

  const [check, run] = commands(text);
  await follow(check!);
  const said = await follow(run!);
  // the look-ahead test depends on the list of scorers; its result is equal, so no other score runs
  for (const stage of ranIn(said))
    assert.match(stage, /^(report$|(score|references)\[.*scorer=first-window\]|(checkpoint-)?causality\[)/);
  const { attempts, rows } = report(said);
  for (const { scores } of attempts) assert.equal(scores["first-window"].kind, "scored");
  assert.ok(rows.some(({ metric, name }: Line) => metric === "first-window" && name === "random-weights"));
});
