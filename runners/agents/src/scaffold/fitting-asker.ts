// Asks the model with a request cut to its context window, and has it cut more if the provider still refuses it.
import { unreachable } from "@mlrb/core/ports/outcome";
import { failureOf } from "../model/cause-of.ts";
import type { Message, ModelResponse } from "../model/model-client.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { type Cut, correctedWindow, narrowedWindow, windowCharacters, windowOf } from "./context.ts";
import type { ScaffoldRequest } from "./scaffold.ts";
import type { Tool } from "./tool.ts";

const tooLongMax = 8;

export type FittedRequest = {
  messages: Message[];
  /** Of the whole request, including the tools' descriptions. */
  characters: number;
  cut?: Cut | undefined;
};

/**
 * `fit` makes a request of at most `charactersMax`; `toolsCharacters` is the part that the tools' descriptions
 * take of it. Without a response the budget is used up. Throws if a request cannot be made short enough.
 */
export function windowedAsker(
  request: Pick<ScaffoldRequest, "model" | "ask" | "write" | "signal" | "meter">,
  by: string,
  tools: Tool[],
) {
  const specs = tools.map(({ spec }) => spec);
  const toolsCharacters = JSON.stringify(specs).length;
  let window = windowOf(request.model);
  return async (
    fit: (charactersMax: number, toolsCharacters: number) => FittedRequest,
  ): Promise<ModelResponse | undefined> => {
    for (let tries = 0; ; tries++) {
      const { messages, characters, cut } = fit(windowCharacters(window), toolsCharacters);
      if (cut) request.write({ event: "context-cut", by, ...cut });
      const asked = await request.ask(by, messages, specs);
      request.signal.throwIfAborted();
      switch (asked.kind) {
        case "answered": {
          const { usage } = asked.response;
          if (usage) window = correctedWindow(window, characters, usage.inputTokens);
          return asked.response;
        }
        case "over":
          if (request.meter.over()) return undefined;
          break; // a person has extended the budget meanwhile
        case "too-long":
          if (tries === tooLongMax) throw tooLong(request.model, { characters, tries: tries + 1 });
          window = narrowedWindow(window, characters);
          break;
        default:
          unreachable(asked);
      }
    }
  };
}

function tooLong(
  model: { provider: string; id: string },
  { characters, tries }: { characters: number; tries: number },
): ProviderTrouble {
  const detail = `the model takes no request of ${characters} characters, which is system prompt, task and notes`;
  return new ProviderTrouble(model, failureOf("too-long", { detail }), { tries, waitedMs: 0 });
}
