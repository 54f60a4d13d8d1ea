// One vote on one question: reads every piece of the extract, merges the findings, looks the quotes up, and asks
// whether they support the answer. A presence needs a quote that is there and supports it. An absence needs that
// all was read. Everything else stays open. Pure.
import { hash } from "node:crypto";
import { plainAnswers, plainUnquoted, type RubricQuestion } from "@mlrb/formats/declared/rubric";
import type { JudgeVote } from "@mlrb/formats/judged/answers";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { JudgeRequest } from "@mlrb/formats/judged/judge-answer";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Message } from "../../model/model-client.ts";
import { wellFormed } from "../../model/well-formed.ts";
import { type Finding, judgeMessages, parseReply, type Quote, quoteCharactersMin } from "./judge-prompt.ts";

/** Asks, and once more if `read` returns undefined. */
export type Ask = (
  call: JudgeRequest["call"],
  messages: Message[],
  read: (reply: string) => Finding | undefined,
) => Promise<Finding | undefined>;

type Reading = ReturnType<typeof readingOf>;

/** An extract as a judge reads it. */
export function readingOf(extract: Extract, of: { digest: string; pieces: string[]; bytesMax: number }) {
  const texts = new Map(extract.events.map(({ number, text }) => [number, squeezed(text)]));
  const all = [...texts.values()].join("\n");
  const { events, characters } = extract.leftOut;
  return {
    ...of,
    isWhole: events === 0 && characters === 0,
    isFound: ({ event, text }: Quote) =>
      (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= quoteCharactersMin &&
      (texts.get(event)?.includes(squeezed(text)) ?? false),
    isForged: (json: string) => all.includes(squeezed(json)),
  };
}

/** White space is not compared: models break lines where they like. */
const squeezed = (text: string) => wellFormed(text).replace(/\s+/gu, " ").trim();
const isAmong = (quote: Quote, all: Quote[]) =>
  all.some(({ event, text }) => event === quote.event && squeezed(text) === squeezed(quote.text));

type Asked = { ask: Ask; reading: Reading; question: RubricQuestion; vote: number };
type Vote = Omit<JudgeVote, "asked">;

/** One vote for each part of the question. */
export async function askVote(asked: Asked): Promise<Vote[]> {
  const { ask, reading, question, vote } = asked;
  const { digest, pieces, isFound, isForged, isWhole, bytesMax } = reading;
  const read = (text: string) => parseReply(text, question, isForged);
  const findings: Finding[] = [];
  for (const [at, text] of pieces.entries()) {
    const call = { kind: "read", piece: at + 1, pieces: pieces.length } as const;
    const finding = await ask(call, judgeMessages("read", { text, digest }, asked), read);
    if (finding) findings.push(finding);
  }
  const readAll = isWhole && findings.length === pieces.length;
  const quoted = findings.flat().flatMap(({ quotes }) => quotes.filter(isFound));
  let finding = findings[0];
  if (findings.length > 1) {
    const known = ({ quotes, ...one }: Finding[number]) => ({ ...one, quotes: quotes.filter(isFound) });
    const text = findings.map((parts) => JSON.stringify(parts.map(known))).join("\n");
    const call = { kind: "merge", findings: hash("sha256", text) } as const;
    const messages = judgeMessages("merge", { text, digest }, asked);
    // findings that fit no request leave the answer open
    finding = Buffer.byteLength(text) > bytesMax ? undefined : await ask(call, messages, read);
  }
  const votes: Vote[] = [];
  for (const [at, part] of (question.parts ?? [undefined]).entries()) {
    const { answer: said = "", reasons = "", quotes: given = [] } = finding?.[at] ?? {};
    const quotes = given.map((one) => ({ ...one, found: isAmong(one, quoted), supports: null }));
    const open = { vote, answer: "cannot tell", said, reasons, quotes, readAll };
    votes.push(finding === undefined ? open : await ruled(asked, open, part));
  }
  return votes;
}

async function ruled(asked: Asked, open: Vote, part: string | undefined): Promise<Vote> {
  const { ask, question, vote, reading } = asked;
  const { said: answer, quotes, readAll } = open;
  if ((question.unquoted ?? plainUnquoted).includes(answer)) return readAll ? { ...open, answer } : open;
  const found = quotes.filter((quote) => quote.found).map(({ text }) => text);
  if (found.length === 0) return { ...open, answer: "unsupported" };
  const claim = JSON.stringify(answer) + (part === undefined ? "" : ` for ${JSON.stringify(part)}`);
  const about = `Do the quotes alone support the answer ${claim} to the question ${JSON.stringify(question.text)}?`;
  const { id, definition } = question;
  const check = { id, text: about, definition, examples: [], unquoted: plainAnswers };
  const text = found.map((one) => JSON.stringify(one)).join("\n");
  const finding = await ask(
    { kind: "support", answer, quotes: hash("sha256", canonicalJson([part ?? null, text])) },
    judgeMessages("support", { text, digest: reading.digest }, { question: check, vote }),
    (reply) => parseReply(reply, check, reading.isForged),
  );
  if (finding === undefined) return open;
  const supports = finding[0]?.answer === "yes";
  const checked = quotes.map((quote) => (quote.found ? { ...quote, supports } : quote));
  return { ...open, answer: supports ? answer : "unsupported", quotes: checked };
}
