// Asks the model with a conversation cut to its context window, and cuts more if the provider still refuses it.
import { unreachable } from "@mlrb/core/ports/outcome";
import type { ModelResponse } from "../model/model-client.ts";
import { specsOf } from "./chosen-tools.ts";
import {
  type Conversation,
  correctedWindow,
  cutToFit,
  narrowedWindow,
  requestCharacters,
  requestMessages,
  windowCharacters,
  windowOf,
} from "./context.ts";
import type { ScaffoldRequest } from "./scaffold.ts";
import type { Tool } from "./tool.ts";

/** Without a response the budget is used up. The returned conversation keeps its cuts. */
export type FittingAsker = (
  conversation: Conversation,
  notes: string,
) => Promise<{ conversation: Conversation; response?: ModelResponse }>;

const tooLongMax = 8;

/** Throws if the parts that may not be cut exceed the context window. */
export function fittingAsker(request: ScaffoldRequest, by: string, tools: Tool[]): FittingAsker {
  const specs = specsOf(tools);
  const toolsCharacters = JSON.stringify(specs).length;
  let window = windowOf(request.model);
  return async (whole, notes) => {
    let conversation = whole;
    for (let tries = 0; ; tries++) {
      const fitted = cutToFit(conversation, {
        notes,
        toolsCharacters,
        charactersMax: windowCharacters(window),
      });
      conversation = fitted.conversation;
      if (fitted.cut) request.write({ event: "context-cut", by, ...fitted.cut });
      const asked = await request.ask(by, requestMessages(conversation, notes), specs);
      request.signal.throwIfAborted();
      const characters = requestCharacters(conversation, { notes, toolsCharacters });
      switch (asked.kind) {
        case "answered": {
          const { usage } = asked.response;
          if (usage) window = correctedWindow(window, characters, usage.inputTokens);
          return { conversation, response: asked.response };
        }
        case "over":
          return { conversation };
        case "too-long":
          if (tries === tooLongMax)
            throw new Error(
              `the model takes no request of ${characters} characters, which is system prompt, task and notes; ` +
                "set contextTokens in the preset to the model's context, or choose a model with a longer one",
            );
          window = narrowedWindow(window, characters);
          break;
        default:
          unreachable(asked);
      }
    }
  };
}
