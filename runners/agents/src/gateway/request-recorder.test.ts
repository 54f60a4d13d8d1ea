import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelRequestEvent, RequestPartEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import fc from "fast-check";
import { gatewayLab } from "../testing/gateway-lab.ts";
import { type RecordedRequest, RequestRecorder } from "./request-recorder.ts";

type Recorded = ModelRequestEvent | RequestPartEvent;

function recording(bytesMax?: number) {
  const events: Recorded[] = [];
  const write = (event: TrajectoryEvent) => void events.push(event as Recorded);
  const recorder = new RequestRecorder({ write, ...(bytesMax !== undefined && { bytesMax }) });
  let call = 0;
  const ask = (body: Record<string, Json>, format: RecordedRequest["format"] = "anthropic") =>
    recorder.record({ call: ++call, provider: "p", model: "m", format, body });
  const parts = (of: number, kind: RequestPartEvent["part"]) =>
    events.filter(
      (one): one is RequestPartEvent => one.event === "request-part" && one.call === of && one.part === kind,
    );
  return { events, ask, parts };
}

const said = (...texts: string[]): Json =>
  texts.map((content, index) => ({ role: index % 2 ? "assistant" : "user", content }));

/** The messages of a request, from the events alone. */
function messagesOf(call: number, events: Recorded[]): Json[] {
  const request = events.find(
    (one): one is ModelRequestEvent => one.event === "model-request" && one.call === call,
  )!;
  const before = request.sameAs
    ? messagesOf(request.sameAs.call, events).slice(0, request.sameAs.messages)
    : [];
  const own = events.filter(
    (one): one is RequestPartEvent => one.event === "request-part" && one.call === call && one.place !== null,
  );
  return [...before, ...own.map((one) => JSON.parse(textOf(one, events)) as Json)];
}

/** Of the part, or of the earlier one that holds what it names. */
function textOf({ digest, text }: RequestPartEvent, events: Recorded[]): string {
  if (typeof text === "string") return text;
  const holder = events.find(
    (one) => one.event === "request-part" && one.digest === digest && typeof one.text === "string",
  ) as RequestPartEvent;
  return holder.text as string;
}

test("the system prompt, the tools and each message of a conversation are recorded once", () => {
  const { events, ask, parts } = recording();
  const same = { system: "Be good.", tools: [{ name: "Bash" }], max_tokens: 5 };
  ask({ ...same, messages: said("a") });
  ask({ ...same, messages: said("a", "b", "c") });
  assert.deepEqual(
    events.map((one) => (one.event === "request-part" ? `${one.call} ${one.part} ${one.place}` : one.event)),
    ["1 system null", "1 tools null", "1 settings null", "model-request", "1 message 0"].concat([
      "model-request",
      "2 message 1",
      "2 message 2",
    ]),
  );
  assert.equal(parts(1, "system")[0]!.text, '"Be good."');
  assert.deepEqual(
    parts(2, "message").map(({ role }) => role),
    ["assistant", "user"],
  );
  const [first, second] = events.filter((one) => one.event === "model-request");
  assert.deepEqual(second, { ...first, call: 2, messages: 3, sameAs: { call: 1, messages: 1 } });
});

test("a changed system prompt or tool is recorded again, a moved cache mark is not", () => {
  const { ask, parts } = recording();
  const marked = {
    role: "user",
    content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }],
  };
  ask({ system: "one", tools: [], messages: [marked] });
  ask({ system: "two", tools: [], messages: [{ role: "user", content: [{ type: "text", text: "a" }] }] });
  assert.deepEqual(
    [parts(2, "system").length, parts(2, "tools").length, parts(2, "message").length],
    [1, 0, 0],
  );
});

test("of a conversation edited in its middle only the edit is written again", () => {
  const { events, ask, parts } = recording();
  const long = (name: string) => `${name} ${"x".repeat(1000)}`;
  const before = ["a", "b", "c", "d", "e"].map(long);
  const after = [before[0]!, before[1]!, "[cleared]", ...before.slice(3)];
  ask({ messages: said(...before) });
  ask({ messages: said(...after) });
  assert.deepEqual(messagesOf(2, events), said(...after));
  assert.deepEqual(
    parts(2, "message").map(({ again }) => again),
    [undefined, true, true],
  );
  assert.ok(parts(2, "message").reduce((sum, one) => sum + JSON.stringify(one).length, 0) < 2000);
  ask({ messages: [{ role: "system", content: "another first message" }, ...(said(...after) as Json[])] });
  assert.deepEqual(messagesOf(3, events).slice(1), said(...after));
  assert.equal(parts(3, "message").filter(({ text }) => typeof text === "string").length, 2);
});

test("a system block that changes at every request leaves the other blocks written once", () => {
  const { events, ask, parts } = recording();
  const system = (mark: string) => [
    { type: "text", text: `mark ${mark}` },
    { type: "text", text: "Be good." },
  ];
  for (const mark of ["1", "2", "1"]) ask({ system: system(mark), messages: said("a") });
  assert.deepEqual(
    [1, 2, 3].map((call) => parts(call, "system").map(({ text }) => text)),
    [system("1").map((one) => JSON.stringify(one)), [JSON.stringify(system("2")[0])], []],
  );
  const [first, , third] = events.filter((one) => one.event === "model-request");
  assert.equal((first as ModelRequestEvent).system?.length, 2);
  assert.deepEqual((third as ModelRequestEvent).system, (first as ModelRequestEvent).system);
});

test("a conversation of thousands of messages grows by the new ones", () => {
  const { ask, parts } = recording();
  const messages = said(...Array.from({ length: 5001 }, (_, index) => `${index}`)) as Json[];
  ask({ messages: messages.slice(0, 5000) });
  ask({ messages });
  assert.equal(parts(1, "more-messages").length, 0);
  assert.deepEqual(
    [...parts(2, "message"), ...parts(2, "more-messages")].map(({ place }) => place),
    [5000],
  );
});

for (const [format, body, system] of [
  ["openai-responses", { instructions: "S", input: "hi", store: false }, '"S"'],
  ["google", { systemInstruction: { parts: [] }, contents: said("hi") }, '{"parts":[]}'],
  ["openai-chat", { messages: said("hi"), temperature: 1 }, undefined],
] as const)
  test(`requests of ${format} are split by that protocol's names`, () => {
    const { ask, parts } = recording();
    ask(body as Record<string, Json>, format);
    assert.equal(parts(1, "system")[0]?.text, system);
    assert.equal(parts(1, "message").length, 1);
  });

test("a text beyond the bytes of all requests keeps digest and length", () => {
  const { ask, parts } = recording(400);
  ask({ messages: said("x".repeat(500)) });
  const [{ text, digest }] = parts(1, "message") as [RequestPartEvent];
  assert.deepEqual(text, {
    head: "",
    digest,
    bytes: JSON.stringify((said("x".repeat(500)) as Json[])[0]).length,
  });
});

for (const [kind, text] of [
  ["short messages", (index: number) => `${index}`],
  ["repeated long messages", (index: number) => `${index} ${"x".repeat(1000)}`],
] as const)
  test(`once the bytes are used, a program that shuffles ${kind} grows the record by one line a request`, () => {
    const { events, ask } = recording(200_000);
    const messages = said(...Array.from({ length: 1000 }, (_, index) => text(index))) as Json[];
    ask({ messages });
    const first = events.length;
    for (let turn = 1; turn <= 20; turn++)
      ask({ messages: [...messages.slice(turn), ...messages.slice(0, turn)] });
    assert.equal(events.length, first + 20 * 2);
    assert.ok(JSON.stringify(events.slice(first)).length < 20 * 1000);
  });

test("once the bytes are used, a request still names the messages that it shares with a recorded one", () => {
  const { events, ask, parts } = recording(2_000);
  ask({ messages: said("a", "b", "c") });
  ask({ messages: said(...Array.from({ length: 10 }, (_, index) => `other ${index}`)) });
  ask({ messages: said("a", "b", "new", "newer") });
  ask({ messages: said("a", "b", "new") });
  const shared = events.flatMap((one) => (one.event === "model-request" ? [one.sameAs] : []));
  assert.deepEqual(shared.slice(2), [
    { call: 1, messages: 2 },
    { call: 3, messages: 2 },
  ]);
  assert.deepEqual(
    parts(3, "more-messages").map(({ place, text }) => [place, typeof text]),
    [[2, "object"]],
  );
});

test("a request of a hundred thousand messages takes a bounded number of lines and loses none", () => {
  const { events, ask } = recording();
  ask({ messages: Array.from({ length: 100_000 }, () => 1) });
  assert.ok(events.length < 10_100, `${events.length}`);
  const rest = events.find((one) => one.event === "request-part" && one.part === "more-messages");
  assert.equal((JSON.parse((rest as RequestPartEvent).text as string) as Json[]).length, 90_000);
});

test("a request that is nested too deeply is recorded as such", () => {
  const { events, ask } = recording();
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as Json;
  ask({ messages: [deep] });
  assert.match(JSON.stringify(events), /nested too deeply/);
});

test("each request of any mix of conversations can be rebuilt from the record", () => {
  const message = fc.constantFrom<Json>(
    { role: "user", content: "a" },
    { role: "user", content: "b".repeat(500) },
    { role: "user", content: "c".repeat(20_000) },
  );
  fc.assert(
    fc.property(fc.array(fc.array(message, { maxLength: 6 }), { maxLength: 40 }), (requests) => {
      const { events, ask } = recording();
      for (const messages of requests) ask({ messages });
      requests.forEach((messages, index) => {
        assert.deepEqual(messagesOf(index + 1, events), messages);
      });
    }),
  );
});

test("a request is recorded before its answer, also if the provider fails", async (t) => {
  const { ask, requests, events } = await gatewayLab(t, [{ text: "Well." }]);
  const body = { model: "claude-test", max_tokens: 100, messages: said("hi") };
  await (await ask("anthropic/v1/messages", body)).text();
  assert.deepEqual(
    requests.map((one) => (one.event === "request-part" ? one.part : one.event)),
    ["settings", "model-request", "message"],
  );
  assert.equal(events[0]!.event, "model-call");
});
