// Writes an extract as lines, in pieces that fit a model's context. Only an event begins at the start of a line:
// an agent's text cannot look like another event. Pure.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { ExtractEvent } from "@mlrb/formats/judged/extract";
import { wellFormed } from "../../model/well-formed.ts";
import { bytesPerTokenLeast, outputTokensMaxOf } from "../../spending/call-charge.ts";

/** Characters that two parts of a long event share. */
const shared = 200;

/**
 * Bytes of a piece: three quarters of what an answer leaves of the context. It does not depend on the rubric:
 * otherwise an edit of one question would move the pieces of all, and paid answers would be about other pieces.
 */
export function pieceBytesMax(model: ModelSpec): number {
  const { contextTokens } = model;
  const answer = Math.min(outputTokensMaxOf(model) ?? contextTokens / 4, contextTokens / 2);
  return Math.floor((contextTokens - answer) * bytesPerTokenLeast * 0.75);
}

/** At least one piece, each with more than half of its bytes new. */
export function extractPieces(events: ExtractEvent[], bytesMax: number): string[] {
  const whole = events.map((event) => eventLines(event, event.text)).join("\n");
  if (Buffer.byteLength(whole) <= bytesMax) return [whole];
  const pieces: string[][] = [[]];
  let bytes = 0;
  for (const block of events.flatMap((event) => eventParts(event, bytesMax))) {
    if (bytes + bytesOf([block]) > bytesMax) {
      const overlap = pieces.at(-1)!.slice(-2);
      while (bytesOf(overlap) > bytesMax / 8) overlap.shift();
      pieces.push(overlap);
      bytes = bytesOf(overlap);
    }
    pieces.at(-1)!.push(block);
    bytes += bytesOf([block]);
  }
  return pieces.map((blocks) => blocks.join("\n"));
}

/** Of at most a quarter of a piece: a character with its share of indentation has at most 3 bytes. */
function eventParts(event: ExtractEvent, bytesMax: number): string[] {
  const most = Math.max(2 * shared, Math.floor(bytesMax / 12));
  const step = most - shared;
  const count = Math.max(1, Math.ceil((event.text.length - shared) / step));
  return Array.from({ length: count }, (_, at) =>
    eventLines(event, event.text.slice(at * step, at * step + most), at > 0),
  );
}

function eventLines({ number, kind }: ExtractEvent, text: string, continued = false): string {
  const lines = wellFormed(text).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/u);
  const head = `[${number}] ${kind}${continued ? ", continued" : ""}: `;
  return head + lines.map((line, at) => (line === "" || at === 0 ? line : `  ${line}`)).join("\n");
}

function bytesOf(blocks: string[]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(block) + 1, 0);
}
