// The fields of Google's generateContent that leave the gateway: ai.google.dev/api/generate-content. Its readers
// take `camelCase` and `snake_case` for the same field, so each field may be there in one spelling only.
import {
  address,
  type Bar,
  barred,
  barredEverywhere,
  base64,
  closed,
  each,
  either,
  type Fields,
  flag,
  list,
  mediaType,
  number,
  type ObjectShape,
  opaque,
  proto,
  ranAtProvider,
  reaching,
  schema,
  text,
  word,
} from "./shape.ts";

const blob = proto({ mimeType: mediaType, data: base64, displayName: text });
const byAddress = proto({
  ...{ mimeType: mediaType, displayName: text },
  fileUri: address("`fileData`, content by its address"),
});
const part = proto({
  ...{ text, thought: flag, thoughtSignature: text, partMetadata: opaque },
  ...{ inlineData: blob, fileData: byAddress },
  functionCall: proto({ id: text, name: text, args: opaque, willContinue: flag }),
  functionResponse: proto({
    ...{ id: text, name: text, response: opaque, willContinue: flag, scheduling: text },
    parts: list(proto({ inlineData: blob, fileData: byAddress })),
  }),
  mediaResolution: either(text, proto({ level: text, numTokens: number })),
  ...each(ranAtProvider, "executableCode codeExecutionResult toolCall toolResponse"),
});
const content = proto({ role: text, parts: list(part) });

const functionDeclaration = proto({
  ...{ name: text, description: text, behavior: text },
  ...{ parameters: schema, parametersJsonSchema: schema, response: schema, responseJsonSchema: schema },
});
const searches = (names: string): Fields =>
  Object.fromEntries(names.split(" ").map((name) => [name, reaching(`the tool \`${name}\``, opaque)]));
const tool = closed(
  proto({
    functionDeclarations: list(functionDeclaration),
    ...searches("googleSearch googleSearchRetrieval urlContext googleMaps enterpriseWebSearch mcpServers"),
    ...each(ranAtProvider, "codeExecution fileSearch retrieval"),
  }),
);

const otherModel = barred("price", { why: "another model could answer", instead: "leave it out" });
const notText: Bar = {
  changes: "price",
  why: "answers that are no text have a price of their own",
  instead: "ask for text",
};
const generationConfig = proto({
  ...{ temperature: number, topP: number, topK: number, seed: number, candidateCount: number },
  maxOutputTokens: number,
  stopSequences: list(text),
  presencePenalty: number,
  frequencyPenalty: number,
  ...{ responseMimeType: text, responseSchema: schema, responseJsonSchema: schema },
  ...{ responseLogprobs: flag, logprobs: number, mediaResolution: text },
  thinkingConfig: proto({ includeThoughts: flag, thinkingBudget: number, thinkingLevel: text }),
  responseModalities: list(word(["TEXT", "Text", "text"], notText)),
  ...each(barred("price", notText), "speechConfig imageConfig"),
  ...each(otherModel, "routingConfig modelSelectionConfig"),
});

const fields = {
  ...barredEverywhere,
  contents: list(content),
  systemInstruction: content,
  tools: list(tool),
  toolConfig: proto({ functionCallingConfig: proto({ mode: text, allowedFunctionNames: list(text) }) }),
  generationConfig,
  safetySettings: list(proto({ category: text, threshold: text })),
  ...searches("mcpServers"),
};

export const googleRequest: ObjectShape = proto(fields);

/** A count may have the request that it counts inside it. */
export const googleCount: ObjectShape = proto({
  ...fields,
  generateContentRequest: proto({ ...fields, model: text }),
});
