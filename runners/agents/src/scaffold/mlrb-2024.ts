// The scaffold of upstream's code (ML-Research-Agent, 2024), which differs from the paper's words: one model
// writes a plan in one call, and one worker gets the whole plan. There is no growing conversation. Each turn is a
// new request with the plan, the last ten actions and the minutes left, and has one tool call. The trajectory
// holds the parts of these requests, not each request: task, plan, actions with results, reminders.
import type { Message, ModelResponse, ToolCall } from "../model/model-client.ts";
import { chosenTools } from "./chosen-tools.ts";
import { clipWhole } from "./clip-text.ts";
import { overBudget, overTurns, type Shared, sharedOf } from "./converse.ts";
import { type FittedRequest, windowedAsker } from "./fitting-asker.ts";
import { plannerPrompt, plannerTask, turnNudges, turnPrompt, workerPrompt2024 } from "./mlrb-2024-prompts.ts";
import type { Scaffold, ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";
import { Standstill } from "./standstill.ts";
import type { Tool } from "./tool.ts";
import { submit } from "./tools/submit.ts";

const actionsShown = 10;
/** Characters of an action's arguments, e.g. of a file that it writes. */
const argumentsMax = 4_000;
/** Each shown action keeps at least so many characters. */
const actionLeast = 200;

export const mlrb2024: Scaffold = async (request) => {
  const shared = sharedOf(request);
  const planned = await planOf(shared);
  if ("kind" in planned) return planned;
  return await new Worker(shared, planned.plan).run();
};

async function planOf(shared: Shared): Promise<{ plan: string } | ScaffoldEnd> {
  const { request, turns } = shared;
  const { spec, askPlanner } = request;
  const asking = askPlanner && spec.planner ? { ...request, ask: askPlanner, model: spec.planner } : request;
  const ask = windowedAsker(asking, "planner", []);
  const messages: Message[] = [
    { role: "system", text: plannerPrompt },
    { role: "user", text: plannerTask(request.prompt) },
  ];
  recordPrompts(request, "planner", messages);
  const standstill = new Standstill();
  for (;;) {
    const over = overTurns(shared);
    if (over) return over;
    const response = await ask(() => ({ messages, characters: charactersOf(messages) }));
    if (!response) return overBudget(request);
    turns.count++;
    if (response.finish !== "refusal")
      return { plan: response.text.trim() || "(The planner wrote no plan.)" };
    const refused = standstill.refused(response);
    if (refused) return refused;
  }
}

class Worker {
  readonly #shared: Shared;
  readonly #plan: string;
  readonly #tools: Tool[];
  readonly #system: string;
  readonly #ask: ReturnType<typeof windowedAsker>;
  /** As later turns show them, oldest first. */
  readonly #actions: string[] = [];
  #actionCount = 0;
  readonly #standstill = new Standstill();

  constructor(shared: Shared, plan: string) {
    const { request } = shared;
    this.#shared = shared;
    this.#plan = plan;
    this.#tools = [...chosenTools({ ...request.spec, ...request }), submit];
    this.#system = workerPrompt2024(request);
    this.#ask = windowedAsker(request, "worker", this.#tools);
  }

  async run(): Promise<ScaffoldEnd> {
    const { request, notices, turns, world } = this.#shared;
    const { prompt } = request;
    const first = { prompt, plan: this.#plan, notes: "", actions: [], minutesLeft: "" };
    recordPrompts(request, "worker", [
      { role: "system", text: this.#system },
      { role: "user", text: turnPrompt(first) },
    ]);
    for (;;) {
      request.signal.throwIfAborted();
      const over = overTurns(this.#shared);
      if (over) return over;
      const before = notices.all.length;
      notices.look();
      for (const text of notices.all.slice(before, -1)) this.#show([text]); // the last one says the time
      const parts = { prompt, plan: this.#plan, notes: world.notes.text() };
      const left = notices.all.at(-1) ?? "";
      const response = await this.#ask((charactersMax, toolsCharacters) =>
        this.#request({ ...parts, minutesLeft: left }, charactersMax - toolsCharacters, toolsCharacters),
      );
      if (!response) return overBudget(request);
      turns.count++;
      const end = await this.#take(response);
      if (end) return end;
    }
  }

  /** Shortens the shown actions if the request would be too long. */
  #request(
    parts: Omit<Parameters<typeof turnPrompt>[0], "actions">,
    charactersMax: number,
    toolsCharacters: number,
  ): FittedRequest {
    const messagesWith = (actions: readonly string[]): Message[] => [
      { role: "system", text: this.#system },
      { role: "user", text: turnPrompt({ ...parts, actions }) },
    ];
    const whole = messagesWith(this.#actions);
    if (charactersOf(whole) <= charactersMax || this.#actions.length === 0)
      return { messages: whole, characters: charactersOf(whole) + toolsCharacters };
    const room = charactersMax - charactersOf(messagesWith([]));
    const each = Math.max(actionLeast, Math.floor(room / this.#actions.length) - 100);
    const clipped = this.#actions.map((text) => clipWhole(text, "cut to make room", each));
    const messages = messagesWith(clipped.map(({ text }) => text));
    const cut = {
      messagesCut: clipped.filter((one) => one.clipped).length,
      charactersCut: Math.max(0, charactersOf(whole) - charactersOf(messages)),
      messagesKept: messages.length,
    };
    const characters = charactersOf(messages) + toolsCharacters;
    return { messages, characters, ...(cut.charactersCut > 0 && { cut }) };
  }

  async #take(response: ModelResponse): Promise<ScaffoldEnd | undefined> {
    const text = response.text.trim();
    if (response.finish === "refusal") {
      const refused = this.#standstill.refused(response);
      if (!refused) this.#note(text, turnNudges.refusal);
      return refused;
    }
    const [call, ...more] = response.toolCalls;
    if (call) return await this.#act(response, call, more.length);
    const silent = this.#standstill.silent(text);
    if (!silent) this.#note(text, response.finish === "length" ? turnNudges.length : turnNudges.noTool);
    return silent;
  }

  async #act(
    { text, finish }: ModelResponse,
    call: ToolCall,
    more: number,
  ): Promise<ScaffoldEnd | undefined> {
    const world = { ...this.#shared.world, by: "worker" };
    const { results, end } = await this.#standstill.call([call], { tools: this.#tools, world });
    if (end?.kind === "returned") throw new Error("bug: this scaffold has no tool that returns");
    if (end) return end;
    const input = "malformed" in call ? call.malformed : JSON.stringify(call.input);
    const { text: argumentsText } = clipWhole(input, "left out", argumentsMax);
    this.#show([
      ...(text.trim() === "" ? [] : [text.trim()]),
      `${call.name} ${argumentsText}`,
      ...["Result:", ...results.map(({ message }) => message.text.trimEnd())],
      ...(more > 0 ? [turnNudges.more(more)] : []),
      ...(finish === "length" ? [turnNudges.length] : []),
    ]);
    return undefined;
  }

  /** An answer without a call takes the place of an action. */
  #note(text: string, nudge: string): void {
    this.#shared.request.write({ event: "message", by: "worker", role: "user", why: "nudge", text: nudge });
    const { text: said } = clipWhole(text, "left out", argumentsMax);
    this.#show([...(said === "" ? [] : [said]), nudge]);
  }

  #show(lines: string[]): void {
    this.#actions.push([`Action ${++this.#actionCount}:`, ...lines].join("\n"));
    if (this.#actions.length > actionsShown) this.#actions.shift();
  }
}

function recordPrompts({ write }: ScaffoldRequest, by: string, messages: Message[]): void {
  for (const { role, text } of messages)
    if (role === "system" || role === "user")
      write({ event: "message", by, role, why: role === "system" ? "prompt" : "task", text });
}

function charactersOf(messages: Message[]): number {
  return messages.reduce((sum, { text }) => sum + text.length, 0);
}
