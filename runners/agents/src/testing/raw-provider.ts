// A provider whose answers a test writes byte by byte, for bodies that the scripted provider cannot send.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { aiSdkClient, type ClientLimits } from "../model/ai-sdk-client.ts";
import type { ModelFailure, ModelResponse, ModelResult } from "../model/model-client.ts";

/** `write` gets each answer, with status 200 and the content type of a stream. Returns the server's address. */
export async function rawProvider(t: TestContext, write: (answer: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      response.setHeader("content-type", "text/event-stream");
      write(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Events of JSON, as a stream. */
export const events = (...values: unknown[]): string =>
  values
    .map((value) => {
      const { type } = value as { type?: string };
      return `${type === undefined ? "" : `event: ${type}\n`}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
    })
    .join("");

/** One piece of a chat answer. */
export const chatPiece = (delta: object, more: object = {}, choice: object = {}) => ({
  ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...more,
});

/** Asks once. */
export async function askRaw(
  t: TestContext,
  write: (answer: ServerResponse) => void,
  {
    provider = "local",
    limits,
    heard,
  }: { provider?: string; limits?: ClientLimits; heard?: () => void } = {},
): Promise<ModelResult> {
  const baseUrl = await rawProvider(t, write);
  const spec = { provider, id: "m", baseUrl: `${baseUrl}/v1`, contextTokens: 100_000 };
  return await aiSdkClient(spec, "key", limits).call({
    messages: [{ role: "user", text: "Begin." }],
    tools: [{ name: "shell", description: "Runs a command.", input: { type: "object", properties: {} } }],
    signal: AbortSignal.timeout(20_000),
    ...(heard && { heard }),
  });
}

export function responseOf(result: ModelResult): ModelResponse {
  if (result.kind !== "answered") throw new Error(JSON.stringify(result));
  return result.response;
}

export function failureOfResult(result: ModelResult): ModelFailure {
  if (result.kind !== "failed") throw new Error(JSON.stringify(result));
  return result.failure;
}
