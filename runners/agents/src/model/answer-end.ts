// Who ended an answer, by the provider's name of its end. Any end with a name is the model's, e.g. Gemini's
// MALFORMED_FUNCTION_CALL, unless a server gave the answer up itself: OpenRouter, vLLM, SGLang and DeepSeek name
// that.
const serverEnds = /^(error|failed|abort(ed)?|cancell?ed|insufficient_system_resource)$/iu;

/** `native`: behind a router, the name that the model's own provider gives. Empty without one. */
export function endName(reason: string, native: string): string {
  return isServersEnd(reason) && native !== "" ? native : reason;
}

export function isServersEnd(name: string): boolean {
  return serverEnds.test(name);
}
