// The answers of judges about one attempt on the page, with their quotes one click away. Quotes are text of agents,
// and reasons those of a model that read it.
import type { JudgedQuestion, JudgeVote } from "@mlrb/formats/judged/answers";
import type { JudgedAttempt } from "@mlrb/formats/report/judged";
import { type Html, html } from "../page/html.ts";
import { plainText } from "../read/plain-text.ts";
import { judgeTitle, votesCaption } from "./judge-words.ts";

const shownMax = 2000;

/** `judged`: of one attempt, by each judge. */
export function answersPart(judged: readonly Pick<JudgedAttempt, "answers">[]): Html | false {
  if (judged.length === 0) return false;
  return html`<p>Answers of judges, which disqualify nothing. ${votesCaption}</p>
${judged.map(judgePart)}`;
}

function judgePart({ answers }: Pick<JudgedAttempt, "answers">): Html {
  return html`<details class="folded"><summary>${judgeTitle(answers)}</summary>${answers.questions.map(questionPart)}</details>`;
}

function questionPart({ id, answer, marks, votes }: JudgedQuestion): Html {
  return html`<details><summary>${id}: <b${marks && html` class="bad"`}>${answer}</b></summary><ol>${votes.map(votePart)}</ol></details>`;
}

function votePart({ answer, said, reasons, quotes, readAll }: JudgeVote): Html {
  return html`<li>${answer}${said !== answer && ` (the model said: ${plainText(said)})`}${!readAll && ", not all of the attempt was read"}: <span class="said">${plainText(reasons, shownMax)}</span>
${quotes.map(({ event, text, found, supports }) => html`<blockquote class="said">${plainText(text, shownMax)} <span class="faint">(event ${event}: ${found ? supportWords(supports) : "not found there"})</span></blockquote>`)}</li>`;
}

function supportWords(supports: boolean | null): string {
  if (supports === null) return "found there";
  return supports ? "found there, supports the answer" : "found there, does not support the answer";
}
