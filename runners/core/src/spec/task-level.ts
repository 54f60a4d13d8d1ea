// A task at a level of difficulty: `baby-lm@time-6th` is the task baby-lm with one thing changed. It is a task of its
// own for the planner, records and tables, with its own data, models, trivial baseline and reference. Pure.
import type { TaskLevel, TaskManifest } from "@mlrb/formats/declared/task";
import { parseDuration } from "@mlrb/kit/parse-duration";
import { didYouMean } from "../yaml/suggest.ts";

/** The level of an unchanged task, which has no name of its own there. */
export const wholeLevel = "whole";

/** `folder`: of its files. */
export function splitTaskName(name: string): { folder: string; level?: string } {
  const at = name.indexOf("@");
  return at < 0 ? { folder: name } : { folder: name.slice(0, at), level: name.slice(at + 1) };
}

export function taskWithLevel(task: string, level: string): string {
  return level === wholeLevel ? task : `${task}@${level}`;
}

/** `name`: of the task with its level. */
export function taskAtLevel(
  task: TaskManifest,
  name: string,
): TaskManifest | { message: string; help: string } {
  const { level = "" } = splitTaskName(name);
  const levels = task.levels ?? {};
  if (!Object.hasOwn(levels, level))
    return {
      message: `task "${task.name}" has no level "${level}"`,
      help: didYouMean(level, Object.keys(levels)),
    };
  const own = levels[level]!;
  const { of, dose, bytes } = own;
  const tables = tablesOf(own).map((table) => [table, { ...task[table], ...own[table] }]);
  const { published: _, ...others } = task; // on the whole task
  return {
    ...others,
    ...{ name, title: `${task.title}, ${level}` },
    ...Object.fromEntries(tables),
    ...(of === "time" && { budget: shorter(task.budget, dose) }),
    ...(bytes && { rules: task.rules.flatMap((rule) => withBytes(rule, bytes)) }),
  };
}

const tables = ["models", "givenModels", "downloads", "baselines", "referenceRows", "expected"] as const;

function tablesOf(level: TaskLevel) {
  return tables.filter((table) => level[table] !== undefined);
}

/** The names of levels that mean something for a kind of data: each of their own tables has it. */
export function levelNames({ levels = {} }: TaskManifest, kind: string): string[] {
  return Object.entries(levels).flatMap(([name, level]) => {
    const own = [...tablesOf(level), ...(level.bytes ? (["bytes"] as const) : [])];
    return own.every((table) => Object.hasOwn(level[table]!, kind)) ? [name] : [];
  });
}

/** For `{task.level}`: what the task's level changes; undefined without one. */
export function levelOf({ name, levels }: TaskManifest) {
  const { folder, level } = splitTaskName(name);
  if (level === undefined) return undefined;
  const { of, dose, unit, whole = of === "help" ? 0 : 1, doses, says, help } = levels![level]!;
  return {
    ...{ task: folder, name: level, of, dose, unit, whole, ...(doses && { doses }), says },
    share: of === "data" ? dose : null,
    help: help === undefined ? null : `tasks/${help}`,
  };
}

function shorter(budget: TaskManifest["budget"], share: number): TaskManifest["budget"] {
  return Object.fromEntries(
    Object.entries(budget).map(([kind, { time }]) => [
      kind,
      { time: `${Math.round((share * parseDuration(time)!) / 1000)}s` },
    ]),
  );
}

/** A rule of several kinds of data becomes one for each. */
function withBytes(
  rule: TaskManifest["rules"][number],
  bytes: NonNullable<TaskLevel["bytes"]>,
): TaskManifest["rules"] {
  if (rule.method !== "memory-max") return [rule];
  return (rule.on ?? Object.keys(bytes)).map((kind) => ({
    ...rule,
    on: [kind],
    ...(Object.hasOwn(bytes, kind) && {
      title: `${rule.title} At this level: ${bytes[kind]! / 1e9} GB.`,
      with: { ...rule.with, bytes: bytes[kind]! },
    }),
  }));
}
