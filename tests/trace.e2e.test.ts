// The origin of a number, as `pipeline trace` prints it from the records of its last success.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const score = (value: number) =>
  JSON.stringify({
    formatVersion: 1,
    scorer: "points",
    direction: "higher",
    kind: "scored",
    value,
    standardError: 0.5,
    items: 4,
    unit: "points",
    version: 7,
    groups: {},
    extra: {},
  });

/** A pipeline of data, an attempt and a score, by commands; `word` is a parameter of the data. */
function define(at: ReturnType<typeof lab>, word = "one") {
  at.define({
    axes: { task: ["letters"], agent: ["plain", "bold"], seed: [1, 2], scorer: ["points"] },
    stages: {
      data: {
        each: ["task"],
        command: "echo {params.word} > {outputs.text}",
        params: { word },
        gives: { text: "file" },
      },
      attempt: {
        each: ["task", "agent", "seed"],
        command: "cat {inputs.text} > {outputs.work}; echo {agent} worked",
        needs: ["data.text"],
        gives: { work: "file" },
        durable: true,
      },
      score: {
        each: ["task", "agent", "seed", "scorer"],
        command: `cat {inputs.work}; echo '${score(2.5)}' > {outputs.score}`,
        needs: ["attempt.work"],
        gives: { score: "file" },
      },
    },
  });
}

test("a cell is traced to its score, attempt, inputs, host and log, and to the command that reproduces it", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await at.run()).code, 0);
  const trace = (...args: string[]) =>
    at.pipeline(["trace", ...args, "--pipeline", at.name, "--root", at.root]);

  const { code, stdout } = await trace("letters", "points", "bold", "2", "--all");
  assert.equal(code, 0);
  const id = "score[task=letters,agent=bold,seed=2,scorer=points]";
  assert.ok(stdout.startsWith(`${id}: 2.5 ± 0.5 points over 4 items, version 7\n`), stdout);
  assert.match(stdout, /input +work [0-9a-f]{12}, work of attempt\[task=letters,agent=bold,seed=2\]\n/);
  assert.match(stdout, /\nattempt\[task=letters,agent=bold,seed=2\]\n(.*\n)* {2}record +[0-9a-f]{64}\n/);
  assert.match(stdout, /\ndata\[task=letters\]\n(.*\n)* {2}params +word=one\n/);
  assert.match(stdout, /bold worked/);
  assert.ok(stdout.includes(`to repeat: pnpm pipeline run ${at.name} --only '${id}'`));
  assert.doesNotMatch(stdout, /changed since/);

  const short = await trace("letters", "points", "bold", "2");
  assert.equal(short.code, 0);
  const [first, ...rest] = short.stdout.trimEnd().split("\n");
  assert.equal(first, `${id}: 2.5 ± 0.5 points over 4 items, version 7`);
  assert.ok(rest.length <= 10, short.stdout);
  assert.match(short.stdout, /\n {2}input +work, of attempt\[task=letters,agent=bold,seed=2\]\n/);
  assert.match(
    short.stdout,
    /\n {2}made from\n {4}attempt\[task=letters,agent=bold,seed=2\] +record [0-9a-f]{12} {2}/,
  );
  assert.match(short.stdout, /\n {4}data\[task=letters\] +key [0-9a-f]{12} {2}/);
  assert.doesNotMatch(short.stdout, /word=one|bold worked/);
  assert.match(short.stdout, /--all lists the parameters/);

  const both = await trace("letters", "points", "bold", "--json");
  const lines = both.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ stage }) => stage),
    [id.replace("seed=2", "seed=1"), id],
  );
  for (const { nodes, missing, outdated } of lines) {
    assert.deepEqual([missing, outdated], [[], false]);
    // each input digest was produced by the node that it names
    const given = new Map(
      nodes.flatMap((node: { stage: string; outputs: Record<string, { digest: string }> }) =>
        Object.entries(node.outputs).map(([name, { digest }]) => [`${name} of ${node.stage}`, digest]),
      ),
    );
    for (const { name, digest, from, output } of nodes.flatMap((node: { inputs: object[] }) => node.inputs))
      assert.equal(given.get(`${output} of ${from}`), digest, name);
  }
});

test("explain is short; --all lists the parts of the key", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await at.run()).code, 0);
  const explain = (...args: string[]) =>
    at.pipeline(["explain", "data[task=letters]", "--pipeline", at.name, "--root", at.root, ...args]);
  const short = await explain();
  assert.match(
    short.stdout,
    /^data\[task=letters\]: reuse\n(.*\n)* {2}key [0-9a-f]{64} \(as at its last success\)\n/,
  );
  assert.ok(short.stdout.trimEnd().split("\n").length <= 4, short.stdout);
  assert.match((await explain("--all")).stdout, /\n {4}params\n {6}word: one\n/);
});

test("instances with equal reasons are explained once", async (t) => {
  const at = lab(t, repository);
  define(at);
  const explain = async (...args: string[]) =>
    (await at.pipeline(["explain", ...args, "--pipeline", at.name, "--root", at.root])).stdout;
  const first = await explain("score");
  assert.match(
    first,
    /^score, 4 instances: run, not certain\n {2}because attempt runs first\n {2}upstream\n/,
  );
  assert.match(
    first,
    /\n {4}run data\[task=letters\]: first run\n {4}run attempt, 4 instances: data runs first\n/,
  );
  assert.match(first, /\n {2}… and 1 more\n {2}--all lists each with its key\n$/);
  assert.equal((await at.run()).code, 0);
  assert.match(await explain("score"), /^score, 4 instances: reuse\n/);
  assert.equal((await explain("score", "--all")).match(/^score\[/gm)?.length, 4);
});

test("changes since then are shown, and a missing result is shown as missing", async (t) => {
  const at = lab(t, repository);
  define(at);
  const trace = (...args: string[]) =>
    at.pipeline(["trace", ...args, "--pipeline", at.name, "--root", at.root]);
  const before = await trace("letters", "points", "plain", "1");
  assert.equal(before.code, 1);
  assert.match(before.stdout, /unknown: score\[.*\]: it has not succeeded here/);

  assert.equal((await at.run()).code, 0);
  define(at, "two");
  const after = await trace("letters", "points", "plain", "1", "--all");
  assert.equal(after.code, 0);
  assert.match(after.stdout, /params +word=one\n/, "of what it was made, not of what it would be");
  assert.match(after.stdout, /changed since/);
  assert.match(after.stdout, /command +cat \{inputs\.work\}; echo .*2\.5/);
  const pipeline = `pipelines/${at.name}.yaml`;
  repository.write(pipeline, repository.read(pipeline).replace("2.5", "3.5"));
  const edited = await trace("letters", "points", "plain", "1");
  assert.match(
    edited.stdout,
    /command +cat \{inputs\.work\}; echo .*2\.5/,
    "of what it ran, not of what it would run",
  );

  rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
  const lost = await trace("letters", "points", "plain", "1");
  assert.equal(lost.code, 1);
  assert.match(lost.stdout, /unknown: score\[/, "the cache alone knew of scores");
  assert.match(lost.stdout, /\nattempt\[.*\]\n|^attempt\[.*\]\n/, "an attempt's record outlives the cache");
});

test("an argument that is neither a cell nor an instance is refused with suggestions", async (t) => {
  const at = lab(t, repository);
  define(at);
  for (const words of [["letters", "points"], ["letters", "points", "nobody"], ["score[agent=nobody]"]]) {
    const said = await at.pipeline(["trace", ...words, "--pipeline", at.name, "--root", at.root]);
    assert.equal(said.code, 2, words.join(" "));
    assert.match(said.stderr, /nothing-selected: .*\n {2}help: \S/);
  }
  const words = ["letters", "pionts", "plain"];
  const said = await at.pipeline(["trace", ...words, "--pipeline", at.name, "--root", at.root]);
  assert.match(said.stderr, /help: "pionts" is no metric of letters; they are points/);
});
