// The paid answers of judges on disk: one file for each call, named by the digest of its request. An answer is
// never replaced or removed: a file that cannot be read stays, and the new answer gets the next name.
import { hash } from "node:crypto";
import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type JudgeAnswer, type JudgeRequest, judgeAnswer } from "@mlrb/formats/judged/judge-answer";
import { mustFollow, readFormat, unreadableWords } from "@mlrb/formats/read-format";
import { createOnce } from "@mlrb/kit/files/create-once";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { readFrom } from "@mlrb/kit/files/read-from";
import { canonicalJson, readJson } from "@mlrb/kit/json-file";

/** The judge gave no answer that counts, e.g. over the cap of the run. What was answered is kept. */
export class JudgeTrouble extends Error {}

export type AnswerStore = {
  /** Undefined if the request was not answered yet. */
  get(request: JudgeRequest): JudgeAnswer | undefined;
  /** Keeps a paid answer at once. Returns the kept one, which may be another process's. Throws on a full disk. */
  put(answer: Omit<JudgeAnswer, "formatVersion" | "day">): JudgeAnswer;
};

const nameOf = (request: JudgeRequest) => hash("sha256", canonicalJson(request));

/** `tell`: called with each file that cannot be read. */
export function answerStore(
  folder: string,
  tell: (problem: string) => void = () => {},
  today = () => new Date().toISOString().slice(0, 10),
): AnswerStore {
  mkdirSync(folder, { recursive: true });
  const find = (request: JudgeRequest, told = tell): { path: string; answer?: JudgeAnswer } => {
    const name = nameOf(request);
    for (let count = 1; ; count++) {
      const path = join(folder, count === 1 ? `${name}.json` : `${name}-${count}.json`);
      const bytes = readFrom(path, 0);
      if (!bytes) return { path };
      const read = readFormat(judgeAnswer, bytes.toString());
      if (read.kind === "ok" && nameOf(read.value.request) === name) return { path, answer: read.value };
      const cause = read.kind === "ok" ? "it answers another request" : unreadableWords(read);
      told(`${path}: ${cause}; the judge is asked again, and the file stays`);
    }
  };
  return {
    get: (request) => find(request).answer,
    put(paid) {
      try {
        for (;;) {
          const { path, answer } = find(paid.request, () => {});
          if (answer) return answer;
          createOnce(path, { formatVersion: 1, ...paid, day: today() });
        }
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        const cost = `${paid.dollars ?? "unknown"} dollars`;
        throw new JudgeTrouble(`${folder}: the disk is full, so an answer that cost ${cost} is lost`);
      }
    },
  };
}

/**
 * Of a recorded judge. Which model answered is no matter: a recording of any can be copied into `folder`, with a
 * README.md that says how to record again.
 */
export function recordedAnswers(folder: string): AnswerStore {
  const key = (request: JudgeRequest) => nameOf({ ...request, model: {} });
  const files = globSync("*.json", { cwd: folder }).sort();
  const all = files.map((name) => mustFollow(judgeAnswer, readJson(join(folder, name)), join(folder, name)));
  const known = new Map(all.map((answer) => [key(answer.request), answer]));
  return {
    get(request) {
      const answer = known.get(key(request));
      if (answer) return answer;
      const { question, vote, extract, call } = request;
      const help =
        readFrom(join(folder, "README.md"), 0)?.toString().trim() ??
        "run the stage with the judge to record, then copy the new files of .mlrb/answers into this folder";
      throw new JudgeTrouble(
        `${folder} has no answer to ${question.id}, vote ${vote}, ${call.kind}, of the extract ${extract}\n  help: ${help}`,
      );
    },
    put: () => {
      throw new Error("bug: a recorded judge was asked");
    },
  };
}
