import assert from "node:assert/strict";
import { test } from "node:test";
import { agentNames, anyModel, modelNames, nameHider, seriesNames } from "./hidden-names.ts";

const model = { contextTokens: 1000, id: "gpt-4o-2024-08-06" };
const preset = {
  provider: "openai",
  model,
  scaffold: "react",
  title: "GPT-4o (2024-08-06), one loop",
} as const;
const hide = nameHider(agentNames("gpt-4o@base", preset), "Train a small model.");

test("a name with digits is hidden with any separators and in any case", () => {
  for (const name of ["gpt-4o-2024-08-06", "gpt-4o", "gpt_4o", "GPT 4o", "Gpt4O", "gpt.4o", "openai/gpt-4o"])
    assert.doesNotMatch(hide(`I am ${name}.`), /4o|gpt/i, name);
  assert.equal(hide("I am GPT-4o."), "I am [the agent's model].");
});

test("a short name with a digit is hidden as a word of its own", () => {
  const hidden = nameHider(agentNames("o3-loop", { model: { contextTokens: 1, id: "o3" } }), "");
  assert.equal(hidden("I am o3, not o3d or foo3."), "I am [the agent's model], not o3d or foo3.");
});

test("ordinary words, code and other models stay", () => {
  for (const text of [
    "import react",
    "We react to it.",
    "gpt2",
    "GPT-style",
    "minGPT",
    "one loop",
    "4o",
    "2024-08-06",
  ])
    assert.equal(hide(text), text);
});

test("an agent of two short words leaves a sentence as it is", () => {
  const hidden = nameHider(agentNames("sample-a", {}), "");
  assert.equal(hidden("We sample a batch."), "We sample a batch.");
  assert.equal(hidden("~/sample-a/x and sample_a"), "~/[the agent]/x and [the agent]");
});

test("a coding agent is hidden with its models and their family", () => {
  const gateway = [{ provider: "anthropic", ids: ["claude-sonnet-4-5-20250929", "claude-haiku-*"] }];
  const names = agentNames("claude-code", { title: "Claude Code 2.1.197, Claude Sonnet 4.5", gateway });
  const hidden = nameHider(names, "");
  for (const text of [
    "Claude Code",
    "I'm Claude.",
    "Claude Sonnet 4.5",
    "claude_sonnet_4_5",
    "Anthropic",
    "\\nClaude",
    "claude-haiku-4",
  ])
    assert.doesNotMatch(hidden(text), /claude|sonnet|anthropic|haiku|code/i, text);
  assert.equal(hidden("claude-3-opus"), "claude-3-opus", "another model");
  assert.equal(hidden("claudette"), "claudette");
});

test("a name of one word that the prompt uses is no name", () => {
  const names = agentNames("baseline", {});
  assert.equal(nameHider(names, "Beat the baseline.")("the baseline"), "the baseline");
  assert.equal(nameHider(names, "")("the baseline"), "the [the agent]");
  const given = nameHider({ [anyModel]: seriesNames("Qwen/Qwen2.5-Coder-32B") }, "Merge Qwen models.");
  assert.equal(given("Qwen2.5, Qwen"), "Qwen2.5, Qwen");
});

test("a model is hidden by its name behind owners and clouds, and without its date", () => {
  const ids = ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "Qwen/Qwen2.5-Coder-32B-Instruct"];
  const hidden = nameHider(
    { "the agent's model": ids.flatMap(modelNames), [anyModel]: ids.flatMap(seriesNames) },
    "",
  );
  for (const text of ["claude-sonnet-4-5", "qwen2.5-coder-32b-instruct"])
    assert.equal(hidden(text), "[the agent's model]", text);
  for (const text of ["Claude", "Qwen", "Sonnet 4.5", "Sonnet", "Claude 4", "Qwen 2.5"])
    assert.equal(hidden(text), "[a model]", text);
  assert.equal(hidden("Qwen2.5-0.5B"), "Qwen2.5-0.5B", "another model");
});

test("a family of three letters is hidden alone, and stays in code and in compounds", () => {
  for (const text of ["I am GPT.", "GPT", "(gpt)", "Gpt, here"])
    assert.equal(hide(text), text.replace(/gpt/i, "[a model]"), text);
  for (const text of [
    "class GPT(Module)",
    "GPT (config)",
    "gpt.py",
    "a GPT-style net",
    "nn.gpt",
    "gpt_2",
    "GPT 2",
  ])
    assert.equal(hide(text), text);
});

test("an edition's word is no name, and neither is a name of another agent's model", () => {
  const ids = ["gpt-4o-mini", "command-r-plus", "gemini-3-flash-preview"];
  const hidden = nameHider({ [anyModel]: ids.flatMap(seriesNames) }, "");
  for (const text of ["a mini batch", "command: ls", "a preview", "plus", "flash", "opus", "Claude"])
    assert.equal(hidden(text), text);
  assert.equal(hidden("Gemini 3 is Gemini"), "[a model] is [a model]");
});

test("a name is hidden whatever its letters are and whatever is between them, and the rest stays as it is", () => {
  const names = agentNames("claude-code", { model: { contextTokens: 1, id: "claude-sonnet-4-5" } });
  const hidden = nameHider(names, "");
  const odd = [
    ...[
      "Сlaude",
      "ＣＬＡＵＤＥ",
      "𝓒𝓵𝓪𝓾𝓭𝓮",
      "cláude",
      "Cl\u{200b}aude",
      "\u{2060}Claude",
      "c l a u d e",
      "C.L.A.U.D.E",
    ],
    ...["cl\u{ad}aude", "c\u0336laude", "\u0043laude", "\\x43laude", "c  l  a  u  d  e"],
  ];
  for (const name of odd) assert.match(hidden(`Ж: ${name}, é ﬁ`), /^Ж: \u2060?\[a model\], é ﬁ$/u, name);
  for (const name of [
    "Claude  Code",
    "CLAUDE\u2011CODE",
    "Сlaude\u00a0Сode",
    "claude\u{200b}code",
    "claude \n code",
  ])
    assert.equal(hidden(`é: ${name}!`), "é: [the agent]!", name);
  assert.equal(hidden("claude\u2011sonnet\u20114․5"), "[the agent's model]");
  assert.equal(hidden("сlаudеttе, é\u{200b}"), "сlаudеttе, é\u{200b}");
});

test("an agent's name is hidden without its variant too", () => {
  assert.equal(
    nameHider(agentNames("thinker@base", {}), "")("thinker, thinker@base"),
    "[the agent], [the agent]",
  );
});

test("names that are too short to be specific stay, and none at all changes nothing", () => {
  assert.equal(nameHider(agentNames("x", { provider: "x" }), "")("x = 1"), "x = 1");
  assert.equal(nameHider({}, "")("any text"), "any text");
});

test("a name cannot write a pattern", () => {
  assert.equal(nameHider({ "the agent": ["a.*b(c", "(((("] }, "")("a and b"), "a and b");
});
