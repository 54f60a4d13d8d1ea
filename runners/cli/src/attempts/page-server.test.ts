import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { TrajectoryLine, WholeText } from "@mlrb/report/exports/attempt-source";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import { trajectoryPage } from "@mlrb/report/page/served-pages";
import { type PageServer, servePage } from "./page-server.ts";
import { trajectoryPiece } from "./trajectory-piece.ts";

const hostile = `</script><script>alert(1)</script><img src=x onerror="alert(2)">`;
const above = mkdtempSync(join(tmpdir(), "mlrb-server-"));
const folder = join(above, "record");
const digest = "a".repeat(64);
let server: PageServer;

const line = (index: number, fields: object) =>
  JSON.stringify({
    formatVersion: 1,
    index,
    previous: "0",
    time: "2026-01-01T00:00:00Z",
    sinceStartMs: index,
    ...fields,
  });
const output = (index: number, text: string) => line(index, { event: "output", stream: "stdout", text });

const source = (lines: () => Iterable<TrajectoryLine>) =>
  ({
    slot: { pipeline: "p", profile: "smoke", stage: "attempt[task=t]" },
    lines,
    whole: (text: unknown) => ({ text: typeof text === "string" ? text : "whole", missing: null }),
  }) as never;

before(async () => {
  mkdirSync(join(folder, "snapshots", "0001 é"), { recursive: true });
  writeFileSync(join(above, "secret"), "the secret");
  writeFileSync(join(folder, "snapshots", "0001 é", "note.txt"), hostile);
  writeFileSync(join(folder, "weights"), Buffer.from([0, 255, 1]));
  writeFileSync(join(folder, "long"), "é".repeat(200_000));
  symlinkSync("../secret", join(folder, "link"));
  symlinkSync("..", join(folder, "up"));
  const lines = Array.from({ length: 450 }, (_, at) =>
    output(at, at === 430 ? `needle ${hostile}` : `step ${at}`),
  );
  writeFileSync(join(folder, "trajectory"), `${lines.join("\n")}\n`);
  const attempt = { folder, source: () => source(() => trajectoryLines(join(folder, "trajectory"))) };
  server = await servePage({ page: "<p>the page</p>", attempts: new Map([[digest, attempt]]) });
});

after(async () => {
  await server.close();
  rmSync(above, { recursive: true });
});

type Asked = { host?: string; method?: string; whole?: boolean };

/** `path` is sent as it is, after the token unless `whole`. */
function ask(path: string, { host, method = "GET", whole = false }: Asked = {}) {
  const url = new URL(server.address);
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    text: string;
    policy: string;
  }>();
  const sent = request(
    {
      host: url.hostname,
      port: url.port,
      path: whole ? path : `${url.pathname}${path}`,
      method,
      headers: { host: host ?? url.host },
    },
    (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          text,
          policy: String(response.headers["content-security-policy"]),
        }),
      );
    },
  );
  sent.on("error", reject).end();
  return promise;
}

test("the page is served on loopback under a token of 192 bits, and nothing without it", async () => {
  assert.match(server.address, /^http:\/\/127\.0\.0\.1:\d+\/[A-Za-z0-9_-]{32}\/$/);
  assert.deepEqual([(await ask("")).status, (await ask("")).text], [200, "<p>the page</p>"]);
  for (const path of ["/", `/${"a".repeat(32)}/`, `/${"a".repeat(32)}/trajectory/${digest}`, "//x/", "/%"])
    assert.equal((await ask(path, { whole: true })).status, 404, path);
});

test("another host, and a method that is no reading, are refused", async () => {
  for (const host of [
    "evil.example",
    "localhost:80",
    `127.0.0.1.evil.example`,
    new URL(server.address).hostname,
  ])
    assert.equal((await ask("", { host })).status, 403, host);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
    assert.equal((await ask("", { method })).status, 405);
});

test("no path leads out of a record, by dots, encoding, links or another digest", async () => {
  const paths = [
    "../secret",
    "%2e%2e/secret",
    "..%2fsecret",
    "..%5csecret",
    "link",
    "up/secret",
    "up/",
    "%00",
    "snapshots//x",
    "%",
    "/secret",
  ];
  for (const path of [
    ...paths.map((one) => `files/${digest}/${one}`),
    `files/${"b".repeat(64)}/`,
    `files/${digest}`,
  ]) {
    const { status, text } = await ask(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(text, /the secret/, path);
  }
});

test("files and folders of an attempt are shown as text, never as markup, and no script may run", async () => {
  const listed = await ask(`files/${digest}/`);
  assert.match(listed.text, /href="\.\/snapshots\/"/);
  assert.match(listed.text, /link \(neither a file nor a folder\)/);
  const { text, policy } = await ask(`files/${digest}/snapshots/0001%20%C3%A9/note.txt`);
  assert.match(text, /&#60;script&#62;alert/);
  assert.doesNotMatch(text, /<script|<img/);
  assert.match(policy, /default-src 'none'/);
  assert.match((await ask(`files/${digest}/weights`)).text, /3 bytes that are not text/);
  const long = (await ask(`files/${digest}/long`)).text;
  assert.match(long, /The beginning of 400000 bytes/);
  assert.ok(long.length < 300_000);
});

test("each page of an attempt names it and links to the report, its trajectory and the folders above", async () => {
  const addresses = async (path: string) => {
    const { text } = await ask(path);
    assert.match(text, /<h1>attempt\[task=t\]/, path);
    const [, head] = /<header><p>(.*)<\/p>/.exec(text)!;
    const from = new URL(path, server.address);
    return [...head!.matchAll(/href="([^"]+)"/g)].map(
      ([, to]) => new URL(to!, from).href.slice(server.address.length) || "the report",
    );
  };
  const whole = ["the report", `trajectory/${digest}`];
  const files = `files/${digest}/`;
  assert.deepEqual(await addresses(`trajectory/${digest}`), ["the report", files]);
  assert.deepEqual(await addresses(files), whole);
  assert.deepEqual(await addresses(`${files}weights`), [...whole, files]);
  assert.deepEqual(await addresses(`${files}snapshots/`), [...whole, files]);
  const inner = `${files}snapshots/0001%20%C3%A9/`;
  assert.deepEqual(await addresses(inner), [...whole, files, `${files}snapshots/`]);
  assert.deepEqual(await addresses(`${inner}note.txt`), [...whole, files, `${files}snapshots/`, inner]);
});

test("a folder says how many files it does not list, and lists a name that is not UTF-8", async () => {
  const many = join(folder, "many");
  mkdirSync(many);
  for (let at = 0; at < 5001; at++) symlinkSync("nowhere", join(many, String(at).padStart(4, "0")));
  assert.match((await ask(`files/${digest}/many/`)).text, />1 more files are not listed/);
  mkdirSync(join(folder, "names"));
  writeFileSync(Buffer.concat([Buffer.from(join(folder, "names/")), Buffer.from([0xff])]), "x");
  const { status, text } = await ask(`files/${digest}/names/`);
  assert.equal(status, 200);
  assert.match(text, /\ufffd \(neither a file nor a folder\)/);
});

test("a trajectory is served in pieces, and searched whole", async () => {
  const first = await ask(`trajectory/${digest}`);
  assert.match(first.text, /200 events, from line 1 of 450/);
  assert.match(first.text, /href="\?from=200"/);
  const found = await ask(`trajectory/${digest}?find=NEEDLE`);
  assert.match(found.text, /1 event that contains “NEEDLE”, from line 1 of 450/);
  assert.match(
    (await ask(`trajectory/${digest}?find=nowhere`)).text,
    /0 events that contain “nowhere”, from line 1 of 450/,
  );
  assert.doesNotMatch(found.text, /<script|<img/);
  assert.doesNotMatch(
    (await ask(`trajectory/${digest}?find=${encodeURIComponent(hostile)}`)).text,
    /<script|<img/,
  );
  assert.equal((await ask(`trajectory/${digest}?from=-1`)).status, 400);
});

test("a long text is whole, and a call is shown with its result only", () => {
  const of = { by: "agent", id: "1", name: "shell" };
  const long = { head: "be", digest: "0".repeat(64), bytes: 9 };
  const lines = (): TrajectoryLine[] => [
    {
      kind: "event",
      index: 0,
      time: null,
      sinceStartMs: 1,
      event: { event: "tool-call", ...of, input: '{"command":"ls"}' },
    },
    {
      kind: "event",
      index: 1,
      time: null,
      sinceStartMs: 2,
      event: {
        event: "tool-result",
        ...of,
        outcome: "done",
        exit: { code: 0 },
        text: long,
        rest: null,
        durationMs: 1,
        executed: true,
      },
    },
    { kind: "broken", index: 2, why: "line 3: a line is not JSON" },
  ];
  const { events, broken } = trajectoryPiece(source(lines), { from: 0, find: "" });
  assert.equal(broken, "line 3: a line is not JSON");
  assert.equal(events.length, 1);
  const { turn } = events[0]!;
  assert.ok(turn?.kind === "tool");
  assert.deepEqual([turn.input, turn.output], [{ kind: "command", text: "ls" }, "whole"]);
});

const piece = (
  events: object[],
  find = "",
  whole: (long: LongText, bytesMax: number) => WholeText = (long) => ({ text: String(long), missing: null }),
) => {
  const lines = () =>
    events.map(
      (event, index) =>
        ({ kind: "event", index, time: null, sinceStartMs: index, event }) as unknown as TrajectoryLine,
    );
  return trajectoryPiece({ slot: { stage: "attempt" } as never, lines, whole }, { from: 0, find });
};
const call = (id: string, input: unknown) => ({
  event: "tool-call",
  by: "agent",
  id,
  name: "shell",
  input: JSON.stringify(input),
});
const result = (id: string, text: unknown) => ({
  ...{ event: "tool-result", by: "agent", id, name: "shell", outcome: "done", exit: { code: 0 } },
  ...{ text, rest: null, durationMs: 1, executed: true },
});

test("a search finds texts as they were meant, in inputs, in nested JSON and in notes, and no names of fields", () => {
  const events = [
    call("1", { code: 'open("/data/test.json")', timeout: 5 }),
    result("1", "C:\\tmp"),
    { event: "note", by: "agent", text: `${"x".repeat(5000)} needle` },
  ];
  const found = (find: string) => piece(events, find).events.length;
  assert.equal(found('open("/data/test.json")'), 1);
  assert.equal(found("C:\\tmp"), 1);
  assert.equal(found("sinceStartMs"), 0);
  assert.equal(found("NEEDLE"), 1);
  assert.match(piece(events, "needle").events[0]!.text, /needle$/);
});

test("a search reads behind the shown part, and says what it could not read", () => {
  const text = { head: "x", digest: "0".repeat(64), bytes: 1e6 };
  const long = `${"x".repeat(1e6)} needle`;
  const cut = (_: LongText, bytesMax: number) => ({
    text: long.slice(0, bytesMax),
    missing: bytesMax < long.length ? "999 more bytes are left out" : null,
  });
  const events = [result("1", text)];
  const { turn } = piece(events, "needle", cut).events[0]!;
  assert.match(turn?.kind === "tool" ? turn.output.slice(-50) : "", /x\n\[… 999 more bytes are left out\]$/);
  assert.equal(piece(events, "nothing", cut).unsearched, 0);
  const gone = () => ({ text: "x", missing: "the rest of 1000000 bytes is missing" });
  const left = piece(events, "needle", gone);
  assert.deepEqual([left.events.length, left.unsearched], [0, 1]);
  assert.match(trajectoryPage(left, []), /Of 1 other events, a part of a text is missing/);
});

test("a search of many attachments ends after 256 MiB, and says that others were not searched", () => {
  const text = { head: "x", digest: "0".repeat(64), bytes: 1 };
  const long = "y".repeat(16 << 20);
  let read = 0;
  const whole = (_: LongText, bytesMax: number) => {
    if (bytesMax === 16 << 20) read++;
    return { text: bytesMax === 16 << 20 ? long : "x", missing: null };
  };
  const { unsearched } = piece(
    Array.from({ length: 20 }, (_, at) => result(String(at), text)),
    "needle",
    whole,
  );
  assert.deepEqual([read, unsearched], [16, 4]);
});

test("a page ends after about 4 MB of text, and a cut text is marked", () => {
  const { events, next } = piece(
    Array.from({ length: 150 }, () => ({ event: "output", stream: "stdout", text: "y".repeat(100_000) })),
  );
  assert.equal(next, events.length);
  assert.ok(JSON.stringify(events).length < 5e6);
  assert.equal(events[0]!.text.slice(65_536), "\n[… 34464 more characters are left out]");
});
