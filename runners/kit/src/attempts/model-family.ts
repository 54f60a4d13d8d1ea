// The family of a model, by its name: a judge prefers answers of its own family. Pure.

/** As tables show it. */
export const unknownFamily = "family unknown";

/** Vendors of which a name can begin with the vendor, e.g. meta-llama-3. */
const vendor = /^(?:meta|mistralai|openai|anthropic|google|xai|amazon)-/;

/** Names that do not begin with their family. */
const aliases: [RegExp, family: string][] = [
  [/^(?:o\d|chatgpt|codex|text-davinci)/, "gpt"],
  [/^(?:mixtral|ministral|magistral|codestral|devstral|pixtral)/, "mistral"],
  [/^(?:qwq|qvq)/, "qwen"],
  [/^codellama/, "llama"],
];

const families =
  "gpt claude gemini gemma llama qwen mistral deepseek grok command aya phi nova titan kimi glm chatglm minimax granite nemotron olmo smollm yi jamba falcon ernie hunyuan doubao mimo reka lfm internlm baichuan exaone palm dbrx".split(
    " ",
  );

/**
 * E.g. gpt, claude, gemini, llama, qwen: the first letters of the name without routers, regions and vendors, e.g.
 * of `openrouter/anthropic/claude-…` or `us.meta.llama3-…`. Undefined if that is no known family and none is stated:
 * a deployment has the name that its owner gives it. A recorded judge is of the family of its folder's name.
 */
export function familyOf(model: { provider: string; id: string; family?: string }): string | undefined {
  const { provider, id, family } = model;
  if (family !== undefined) return family;
  const last = id.toLowerCase().split("/").at(-1)!;
  // a part before a dot without digits is a region or a vendor
  const name = last
    .replace(/^ft:/, "")
    .replace(/^(?:[a-z-]+\.)+/, "")
    .replace(vendor, "");
  const alias = aliases.find(([pattern]) => pattern.test(name))?.[1];
  const first = alias ?? /^[a-z]+/.exec(name)?.[0] ?? provider;
  return provider === "recorded" || families.includes(first) ? first : undefined;
}
