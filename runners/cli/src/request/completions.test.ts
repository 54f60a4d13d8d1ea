import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { addCommands } from "../command-table.ts";
import { hostCommands, shellCommands } from "../host-commands.ts";
import { pipelineCommands } from "../pipeline-commands.ts";
import { recordCommands } from "../record-commands.ts";
import { completions, type NameKind, type Names } from "./completions.ts";

const program = new Command("pipeline").helpCommand(false);
addCommands(program, [...pipelineCommands, ...hostCommands, ...recordCommands, ...shellCommands], "");
program.command("complete", { hidden: true }).argument("[word...]");

const known: Record<NameKind, string[]> = {
  pipelines: ["full", "hello"],
  profiles: ["smoke", "paper"],
  axes: ["task=reading", "task=writing", "task=maths", "seed=1", "seed=2"],
  stages: ["data", "attempt", "answers"],
  tasks: [],
  executors: ["local"],
};

/** Candidates for a line whose last word is being typed, and what names were asked for. */
async function at(line: string): Promise<{ values: string[]; asked: unknown[] }> {
  const asked: unknown[] = [];
  const names: Names = async (kind, about) => {
    asked.push([kind, about]);
    return known[kind].map((value) => ({ value }));
  };
  const found = await completions(line.split(" "), { program, names });
  return { values: found.map(({ value }) => value), asked };
}

const values = async (line: string) => (await at(line)).values;

test("the first word is completed to a command, and hidden commands are left out", async () => {
  assert.deepEqual(await values("st"), ["status"]);
  assert.ok(!(await values("")).includes("complete"));
  assert.deepEqual(await values("cache "), ["stats", "verify", "gc"]);
  assert.deepEqual(await values("cache stats "), []);
});

test("an argument and an option's value are completed by the kind of name that they take", async () => {
  assert.deepEqual(await values("status "), ["full", "hello"]);
  assert.deepEqual(await values("status h"), ["hello"]);
  assert.deepEqual(await values("status hello "), []);
  assert.deepEqual(await values("status hello --profile p"), ["paper"]);
  assert.deepEqual(await values("status hello --only a"), ["attempt", "answers"]);
  assert.deepEqual(await values("attempts export hello --format "), ["inspect", "atif"]);
  assert.deepEqual(await values("completion "), ["bash", "zsh", "fish"]);
  assert.deepEqual(await values("log an"), ["answers"]);
  assert.deepEqual(await values("attempts adjudicate 3f2a --verdict "), ["pass", "fail"]);
  assert.deepEqual(await values("attempts adj"), ["adjudicate"]);
  assert.deepEqual(await values("attempts adjudicate --judged h"), ["hello"]);
});

test("names come from the typed pipeline and profile", async () => {
  assert.deepEqual((await at("status --profile paper hello --only ")).asked, [
    ["stages", { profile: "paper", pipeline: "hello" }],
  ]);
  assert.deepEqual((await at("explain --pipeline hello ")).asked, [["stages", { pipeline: "hello" }]]);
  assert.deepEqual((await at("attempts adjudicate --judged hello --profile ")).asked, [
    ["profiles", { pipeline: "hello" }],
  ]);
  assert.deepEqual((await at("log ")).asked, [["stages", {}]]);
});

test("an axis is completed first, then its values that were not typed yet", async () => {
  assert.deepEqual(await values("status hello --set "), ["task=", "seed="]);
  assert.deepEqual(await values("status hello --set t"), ["task="]);
  assert.deepEqual(await values("status hello --set task="), ["task=reading", "task=writing", "task=maths"]);
  assert.deepEqual(await values("status hello --set task=maths,"), [
    "task=maths,reading",
    "task=maths,writing",
  ]);
  assert.deepEqual(await values("status hello --set task=maths,w"), ["task=maths,writing"]);
});

test("options are completed with their descriptions, and flags take no value", async () => {
  const found = await completions(["status", "hello", "--p"], { program, names: async () => [] });
  assert.deepEqual(found, [
    {
      value: "--profile",
      description: "profile of the pipeline (default: the one marked `default: true`)",
    },
  ]);
  assert.deepEqual(await values("status --json h"), ["hello"]);
  assert.ok((await values("status --")).includes("--help"));
});

test("file names are left to the shell", async () => {
  assert.deepEqual(await at("check pipe"), { values: [], asked: [] });
  assert.deepEqual(await at("graph hello --output "), { values: [], asked: [] });
});
