// `pipeline watch`: runs a pipeline again after each edit of a file that its plan depends on. Each run is a
// process of its own, `pipeline run` with the same arguments: edits of the runner and of scripted pipelines then
// take effect (a process imports each once), and a hundred runs leak neither memory nor open files. The run
// reports the files that it consulted; see watcher-channel.

import { type ChildProcess, spawn } from "node:child_process";
import { type Change, changedSince, seenNow } from "@mlrb/local/decide/changed-files";
import type { StatSnapshot } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { parseJobs } from "../request/parse-jobs.ts";
import { refuse } from "../request/refuse.ts";
import { readWords } from "../request/request.ts";
import type { RunCommandOptions } from "../request/run-invocation.ts";
import { Mailbox } from "../run/mailbox.ts";
import { oneLine, printJson } from "../show/print.ts";
import { WatchFolders } from "../watch/watch-folders.ts";
import {
  againVariable,
  interruptMessage,
  leaveMessage,
  type WatchedFiles,
} from "../watch/watcher-channel.ts";

/** A burst of edits ends after `quietMs` without an event, or after `mostMs`. */
const burst = { quietMs: 150, mostMs: 2000 };

/** Changes that are printed. */
const shownMax = 5;

export async function watchCommand(
  repository: string,
  pipeline: string,
  options: RunCommandOptions,
): Promise<number> {
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], options.json);
  const asked = readWords(pipeline, { repository, sources: sourceFiles(repository), set: options.set });
  if ("problems" in asked) return refuse(asked.problems, options.json);
  const say = (text: string, event: object) => {
    if (options.json) printJson(event);
    else process.stderr.write(text);
  };
  const mailbox = new Mailbox();
  const trouble = (message: string) => say(`watch: ${message}\n`, { event: "trouble", message });
  const folders = new WatchFolders(repository, { mailbox, trouble });
  let child: ChildProcess | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    mailbox.close();
    if (child?.connected) child.send(signal === "SIGINT" ? interruptMessage : leaveMessage);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let again = false;
  for (const signal of signals) process.on(signal, interrupt);
  let seen: StatSnapshot = { stats: { [asked.file]: "unknown" }, folders: {}, patterns: {} };
  try {
    for (;;) {
      // a killed run reports nothing: then the files known before are watched
      seen = seenNow(repository, seen);
      const started = startRun(again);
      again = true;
      child = started.child;
      const looked = await started.ended;
      child = undefined;
      if (looked) seen = looked.whole ? looked : joined(seen, looked);
      if (mailbox.closed) return 130;
      const changes = await nextChanges(repository, { seen, mailbox, folders, say });
      if (!changes) return 130;
      say(changeLines(changes), { event: "changed", changes });
    }
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    await folders.close();
  }
}

function startRun(again: boolean): { child: ChildProcess; ended: Promise<WatchedFiles | undefined> } {
  const words = process.argv.slice(process.argv.indexOf("watch") + 1);
  const { promise, resolve, reject } = Promise.withResolvers<WatchedFiles | undefined>();
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "run", ...words], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...(again && { [againVariable]: "1" }) },
  });
  let looked: WatchedFiles | undefined;
  child.on("message", (message) => {
    looked = message as WatchedFiles;
  });
  child.on("error", reject).on("close", () => resolve(looked));
  return { child, ended: promise };
}

type Wait = {
  seen: StatSnapshot;
  mailbox: Mailbox;
  folders: WatchFolders;
  say: (text: string, event: object) => void;
};

/** Waits for a change and the end of its burst; undefined when the watcher is stopped. */
async function nextChanges(
  repository: string,
  { seen, mailbox, folders, say }: Wait,
): Promise<Change[] | undefined> {
  const paths = [seen.stats, seen.folders, seen.patterns].flatMap((one) => Object.keys(one));
  await folders.watch(paths);
  let waits = false;
  while (!mailbox.closed) {
    // check before waiting: an edit during the run may have caused no event
    if (changedSince(repository, seen).length > 0) {
      await mailbox.quiet(burst);
      const changes = changedSince(repository, seen); // some files may be back as they were
      if (mailbox.closed) return undefined;
      if (changes.length > 0) return changes;
    }
    if (!waits) say(waitLine(seen), { event: "waiting", files: Object.keys(seen.stats).length });
    waits = true;
    await mailbox.take();
  }
  return undefined;
}

/** A plan with a problem consults only some files; the others are taken from `before`. */
function joined(before: StatSnapshot, now: StatSnapshot): StatSnapshot {
  return {
    stats: { ...before.stats, ...now.stats },
    folders: { ...before.folders, ...now.folders },
    patterns: { ...before.patterns, ...now.patterns },
  };
}

/** `watch: tasks/x/task.yaml changed`, one line for each of the first changes. */
function changeLines(changes: Change[]): string {
  const lines = changes.slice(0, shownMax).map(({ path, how }) => `watch: ${oneLine(path)} ${how}`);
  if (changes.length > shownMax) lines.push(`watch: … and ${changes.length - shownMax} more`);
  return `\n${lines.join("\n")}\n`;
}

function waitLine({ stats }: StatSnapshot): string {
  const count = Object.values(stats).filter((stat) => stat !== "missing" && stat !== "folder").length;
  return `watch: waiting for an edit of ${count === 1 ? "a file" : `${count} files`}; Ctrl-C stops\n`;
}
