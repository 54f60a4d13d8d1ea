// What --help shows: examples of every command that are valid for the program and the repository today.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "@mlrb/core/ports/node-flags";

const repository = fileURLToPath(new URL("..", import.meta.url));

// the form of commands in help repeats the caller's, and this test may have been started through npx
const { npm_execpath: _, ...unnamed } = process.env;

function pipeline(...args: string[]): string {
  return pipelineIn(unnamed, ...args);
}

function pipelineIn(env: NodeJS.ProcessEnv, ...args: string[]): string {
  const program = join(repository, "runners/cli/bin/pipeline.js");
  const said = spawnSync(process.execPath, [...nodeFlags, program, ...args], {
    encoding: "utf8",
    cwd: repository,
    env,
  });
  assert.equal(said.status, 0, said.stderr);
  return said.stdout;
}

const listed = pipeline("--help").split(/\n(?:Commands|Examples):\n/)[1]!;
const commands = [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!);
const help = new Map(commands.map((command) => [command, pipeline(command, "--help")]));

const namesOf = (what: string) =>
  pipeline("list", what, "--json")
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { name: string }).name);

/** The words of each example after `pnpm pipeline`, without quotes. */
function examples(text: string): string[][] {
  const lines = [...text.matchAll(/^ +pnpm pipeline (.*?)(?: {2,}.*)?$/gm)].map(([, line]) => line!);
  return lines.map((line) =>
    [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!),
  );
}

test("every command has its own examples", () => {
  assert.ok(commands.length >= 14, commands.join(" "));
  for (const command of commands) {
    const own = examples(help.get(command)!);
    assert.ok(own.length > 0, `${command} --help shows none`);
    for (const [first] of own) assert.equal(first, command);
  }
});

test("examples use existing options of the command, and existing pipelines, tasks, scorers and agents", () => {
  const known = new Set(["pipelines", "tasks", "scorers", "agents"].flatMap(namesOf));
  const seeds = /^\d+$/;
  for (const text of [pipeline("--help"), ...help.values()]) {
    for (const [command, ...rest] of examples(text)) {
      if (command === "COMMAND") continue;
      const own = help.get(command!)!;
      // a command with subcommands has the options of the named subcommand
      const inner = /^Commands:/m.test(own) && rest[0] !== undefined;
      const options = inner ? `${own}${pipeline(command!, rest[0]!, "--help")}` : own;
      for (const word of rest.filter((one) => one.startsWith("--")))
        assert.match(options, new RegExp(`^ +${word}\\b`, "m"), `${command}: ${word}`);
      const pipelines = /^Usage: pipeline \w+ .*[<[]pipeline[>\]]/.test(options);
      if (pipelines && rest[0] && !rest[0].startsWith("-"))
        assert.ok(known.has(rest[0]), `${command} ${rest[0]}`);
      for (const [, values] of rest.join(" ").matchAll(/\w+=([\w,.-]+?)(?=,\w+=|\]| |$)/g))
        for (const value of values!.split(","))
          assert.ok(known.has(value) || seeds.test(value), `${command}: ${value}`);
    }
  }
});

/** Help of a command, e.g. `attempts resume`, and of its group. */
const helpOf = new Map<string, string>();
function helpFor(words: string[]): string | undefined {
  const own = help.get(words[0]!);
  if (own === undefined || !/^Commands:/m.test(own) || words[1] === undefined) return own;
  const name = words.slice(0, 2).join(" ");
  if (!helpOf.has(name)) {
    const isKnown = new RegExp(`^ +${RegExp.escape(words[1])}\\b`, "m").test(own);
    helpOf.set(name, isKnown ? pipeline(...words.slice(0, 2), "--help") : "");
  }
  return helpOf.get(name) || undefined;
}

/** The command lines that source code prints, with a placeholder for what it fills in. */
function printedCommands(source: string): string[] {
  const text = source.replace(/^\s*(\/\/|\*|#).*$/gm, "").replace(/\$\{typedProgram\(\)\}/g, "pnpm pipeline");
  const literal = /(?:pnpm pipeline |`pipeline )([a-z][^`"\\\n;)]*)/g;
  // in a string between quotes, or in a template between escaped backticks
  const short =
    /(?:"[^"`\n]*`|\\`)((?:attempts|cache|sources|protocol|doctor|report) [a-z-][^`"\\\n;)]*)\\?`/g;
  const typed = /typedCommand\(\s*"([a-z][a-z -]*)"/g;
  return [...text.matchAll(literal), ...text.matchAll(short), ...text.matchAll(typed)].map(([, line]) =>
    line!.replace(/\$\{.*?\}/g, "X").replace(/'[^']*'/g, "X"),
  );
}

test("every command that a message prints exists, with its options", () => {
  const files = ["runners", "pipelines", "scorers", "tasks"].flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,py,js}`, {
      cwd: repository,
      exclude: ["**/node_modules/**", "**/testing/**", "**/tests/**", "**/*.test.ts", "**/test_*"],
    }),
  );
  let found = 0;
  const wrong = files.flatMap((file) =>
    printedCommands(readFileSync(join(repository, file), "utf8")).flatMap((line) => {
      const words = line.split(/\s+/);
      const own = helpFor(words);
      found++;
      if (own === undefined) return [`${file}: no command: ${line}`];
      const options = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? []);
      const missing = options.filter((option) => !new RegExp(`^ +(-., )?${option}\\b`, "m").test(own));
      return missing.map((option) => `${file}: ${option} of: ${line}`);
    }),
  );
  assert.deepEqual(wrong, []);
  assert.ok(found > 60, `${found} commands`);
});

test("what the gates of a run ask for is accepted by every command that starts attempts", () => {
  for (const words of [["run"], ["attempts", "resume"]])
    for (const option of ["--price", "--max-cost", "--max-gpu-hours", "--yes"])
      assert.match(helpFor(words)!, new RegExp(`^ +${option}\\b`, "m"), `${words.join(" ")}: ${option}`);
});

test("help repeats the form of command that the user typed", () => {
  const npx = {
    ...unnamed,
    npm_execpath: "/home/ann/.npm/_npx/c80d/node_modules/pnpm/bin/pnpm.cjs",
    npm_config_user_agent: "pnpm/10.34.9 npm/? node/v26.10.0 linux x64",
  };
  for (const text of [pipelineIn(npx, "--help"), pipelineIn(npx, "run", "--help")]) {
    assert.match(text, /^ +npx -y pnpm@10\.34\.9 pipeline run hello/m);
    assert.doesNotMatch(text, /pnpm pipeline/);
  }
});

test("--version names the commit and Node, also after a command, which then does not run", () => {
  for (const words of [["--version"], ["-V"], ["run", "hello", "--version"]])
    assert.match(
      pipeline(...words),
      /^mlrb ([0-9a-f]{7,} \(\d{4}-\d\d-\d\d\)( with local changes)?|of an unknown commit), Node v\d+\.\S+\n$/,
    );
});

test("an axis that is typed as an option says how it is chosen", () => {
  const program = join(repository, "runners/cli/bin/pipeline.js");
  for (const [typed, meant] of [
    [["--seed", "3"], "seed=3"],
    [["--task=baby-lm"], "task=baby-lm"],
    [["--source", "mmlu"], "source=mmlu"],
  ] as const) {
    const said = spawnSync(process.execPath, [...nodeFlags, program, "run", "hello", ...typed], {
      encoding: "utf8",
    });
    assert.equal(said.status, 2);
    assert.match(said.stderr, new RegExp(`an axis is chosen with --set ${meant}\n`));
  }
});
