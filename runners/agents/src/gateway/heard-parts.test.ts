// What the gateway counts as a sign of the model: parts of its answer, not the bytes of a kept connection.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { ModelFailure } from "../model/model-client.ts";
import { purse, token } from "../testing/gateway-lab.ts";
import { chatPiece, events, rawProvider } from "../testing/raw-provider.ts";
import { ModelGateway } from "./model-gateway.ts";

const chat = { model: "gpt-test", stream: true, messages: [{ role: "user", content: "hi" }] };

/** How often the provider was heard, and how the call ended. */
async function called(t: TestContext, write: (to: ServerResponse) => void, request: object = chat) {
  const seen = { heard: 0, ended: undefined as unknown };
  const baseUrl = await rawProvider(t, write);
  const provider = { name: "openai", protocol: "openai" as const, ids: ["gpt-test"], free: true };
  const gateway = new ModelGateway({
    providers: [{ ...provider, baseUrl: `${baseUrl}/v1`, key: "k" }],
    ...{ token, meter: purse().meter, network: false, write() {}, overBudget() {} },
    prices: { dollarsOf: () => 0, mostDollarsOf: () => 0, hasOwnPrice: () => false },
    ended() {},
    silence: {
      began: () => ({
        heard: () => void seen.heard++,
        ended(how) {
          seen.ended = how;
        },
      }),
      untilDeadline: async () => undefined,
    },
    failed: (error) => assert.fail(String(error)),
  });
  gateway.server.listen(0, "127.0.0.1");
  await once(gateway.server, "listening");
  t.after(() => gateway.close());
  const { port } = gateway.server.address() as AddressInfo;
  const asked = fetch(`http://127.0.0.1:${port}/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  await asked.then((answer) => answer.text()).catch(() => {}); // it may break off
  return seen;
}

const end = events(chatPiece({}, {}, { finish_reason: "stop" }), "[DONE]");

test("comments, empty lines and empty pieces behind the gateway are not heard", async (t) => {
  const begin = `: OPENROUTER PROCESSING\n\n\n\nevent: ping\ndata: {"type":"ping"}\n\n${events(chatPiece({ role: "assistant", content: "" }))}`;
  const seen = await called(t, (to) => {
    to.write(begin);
    setTimeout(() => to.destroy(), 100);
  });
  assert.deepEqual([seen.heard, (seen.ended as ModelFailure).whose], [0, "provider"]);
});

test("blanks before an answer in one piece are not heard", async (t) => {
  const blanks = (to: ServerResponse) => {
    to.write("\n\n \n");
    setTimeout(() => to.destroy(), 100);
  };
  assert.equal((await called(t, blanks, { ...chat, stream: false })).heard, 0);
});

test("each part of an answer is heard behind the gateway, also after its beginning", async (t) => {
  const seen = await called(t, async (to) => {
    for (const content of ["a", "b", "c"]) {
      to.write(`: ping\n\n${events(chatPiece({ content }))}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    to.end(end);
  });
  assert.ok(seen.heard >= 4, String(seen.heard));
  assert.equal(seen.ended, "answered");
});
