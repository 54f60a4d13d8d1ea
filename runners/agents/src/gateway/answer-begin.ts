// Reads the beginning of an answer of status 200 before any of it is passed to the program. Some providers and proxies
// report a bad key, missing money or an unknown model only there; such a call is held like one refused by its status.
import type { IncomingMessage } from "node:http";
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { carriesContent } from "../model/event-content.ts";
import { at } from "../model/json-text.ts";
import { beginsAsStream } from "../model/stream-begin.ts";
import { streamBlocks } from "../model/stream-blocks.ts";
import type { AnswerTextReader } from "./answer/read-answer.ts";

/** Yields the whole body, including a beginning that was already read. */
export type ProviderAnswer = Pick<IncomingMessage, "statusCode" | "headers"> & AsyncIterable<Buffer>;

/** A complaint comes at once; a program must not wait long for the headers of a slow answer. */
const lookMs = 5000;
const lookBytes = 64 << 10;

/** The provider's error in place of an answer, and the usage that was counted by then. */
type Complained = { complaint: Json; usage: ModelUsage | null };

/** `heard` is called with each part of an answer. Never rejects. */
export async function answerBegin(
  answer: IncomingMessage,
  { reader, heard }: { reader: AnswerTextReader; heard(): void },
): Promise<{ answer: ProviderAnswer; complained: Complained | undefined }> {
  const rest = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  const blocks = streamBlocks();
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), lookMs);
  let next: ReturnType<typeof rest.next> = rest.next();
  let complained: Complained | undefined;
  try {
    let stream: boolean | "undecided" = "undecided";
    let taken = 0;
    for (let text = ""; text.length < lookBytes; ) {
      const got = await Promise.race([next, late.promise]);
      if (got === "late") break;
      if (!got.done) {
        held.push(got.value);
        text += got.value.toString("latin1");
        next = rest.next();
        next.catch(() => {}); // passed on to the reader of the whole answer
        if (stream !== true) stream = beginsAsStream(text);
      }
      const values: (Json | undefined)[] = [];
      if (stream === true)
        for (; taken < held.length; taken++)
          for (const { data } of blocks.take(held[taken]!)) values.push(reader.take(data));
      else if (got.done) values.push(reader.take(Buffer.concat(held).toString("utf8")));
      let error: Json | undefined;
      for (const value of values) {
        if (value !== undefined && carriesContent(value)) heard();
        if (at(value, "error")) error = value; // a proxy does not follow the protocol
      }
      const said = reader.heard();
      const complaint = said.complaint ?? error;
      const content = said.text !== "" || said.reasoning !== null || said.toolCalls.length > 0;
      if (complaint !== undefined && !content) complained = { complaint, usage: said.usage };
      if (got.done || complaint !== undefined || content || said.whole) break;
    }
  } catch {
    // the answer broke off or is no readable stream: the reader of the whole answer finds the same
  } finally {
    clearTimeout(timer);
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* held;
    for (let got = await next; !got.done; got = await rest.next()) yield got.value;
  }
  const { statusCode, headers } = answer;
  return { answer: { statusCode, headers, [Symbol.asyncIterator]: all } as ProviderAnswer, complained };
}
