// Google's generateContent, streamed as server-sent events. The model is in the path.
// Source: https://ai.google.dev/api/generate-content and https://ai.google.dev/gemini-api/docs/troubleshooting
import type { Complaint, CompleteAnswer, Protocol, SeenMessage } from "./loopback-reply.ts";
import { pieces, plainText } from "./loopback-reply.ts";

type Part = {
  text?: string;
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: { id?: string; name: string; response: unknown };
};

export const google: Protocol = {
  name: "google",
  path: /^\/v1beta\/models\/([^/:]+):(streamGenerateContent|generateContent)$/u,
  requestIdHeader: "x-request-id",
  keyOf: (headers) => headers["x-goog-api-key"],
  read(body) {
    const system = body.systemInstruction as { parts: Part[] } | undefined;
    const contents = body.contents as { role: string; parts: Part[] }[];
    const tools = (body.tools ?? []) as { functionDeclarations: { name: string }[] }[];
    return {
      messages: [
        ...(system ? [{ role: "system" as const, text: plainText(system.parts) }] : []),
        ...contents.flatMap(seen),
      ],
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
    };
  },
  body: (answer) => piece(answer, partsOf(answer), finishReason(answer)),
  events: (answer) => [
    ...partsOf(answer).map((part) => ({ data: piece(answer, [part], null) })),
    { data: piece(answer, [], finishReason(answer)) },
  ],
  complain: googleComplaint,
  complainLate: (complaint, model) => ({ data: googleComplaint(complaint, model).body }),
};

function seen({ role, parts }: { role: string; parts: Part[] }): SeenMessage[] {
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse
      ? [
          {
            role: "tool" as const,
            text: JSON.stringify(functionResponse.response),
            callId: functionResponse.id ?? functionResponse.name,
          },
        ]
      : [],
  );
  if (results.length > 0) return results;
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall
      ? [{ id: functionCall.id ?? "", name: functionCall.name, input: JSON.stringify(functionCall.args) }]
      : [],
  );
  return [
    {
      role: role === "model" ? "assistant" : "user",
      text: plainText(parts),
      ...(calls.length > 0 && { toolCalls: calls }),
    },
  ];
}

function partsOf({ text, reasoning, toolCalls }: CompleteAnswer): object[] {
  return [
    ...pieces(reasoning ?? "").map((text) => ({ text, thought: true })),
    ...pieces(text).map((text) => ({ text })),
    ...toolCalls.map(({ name, input }) => ({ functionCall: { name, args: JSON.parse(input) } })),
  ];
}

function piece(answer: CompleteAnswer, parts: object[], finishReason: string | null) {
  const { usage, model, id } = answer;
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
    ...(usage &&
      finishReason !== null && {
        usageMetadata: {
          promptTokenCount: usage.input,
          candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
          totalTokenCount: usage.input + usage.output,
          ...(usage.cached !== undefined && { cachedContentTokenCount: usage.cached }),
          ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
        },
      }),
    modelVersion: model,
    responseId: id,
  };
}

function finishReason({ finish }: CompleteAnswer): string {
  return { stop: "STOP", "tool-calls": "STOP", length: "MAX_TOKENS", refusal: "SAFETY" }[finish];
}

function googleComplaint(complaint: Complaint, model: string): { status: number; body: unknown } {
  const { code, status, message, details = [] } = words(complaint, model);
  return { status: code, body: { error: { code, message, status, details } } };
}

function words(
  complaint: Complaint,
  model: string,
): { code: number; status: string; message: string; details?: object[] } {
  switch (complaint) {
    case "rate-limit":
    case "no-money":
      return {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message:
          "You exceeded your current quota, please check your plan and billing details. Please retry in 6.2s.",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "6.2s" }],
      };
    case "overloaded":
      return {
        code: 503,
        status: "UNAVAILABLE",
        message: "The model is overloaded. Please try again later.",
      };
    case "wrong-key":
      return {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "API key not valid. Please pass a valid API key.",
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
      };
    case "forbidden":
      return { code: 403, status: "PERMISSION_DENIED", message: "The caller does not have permission" };
    case "unknown-model":
    case "retired-model":
      return {
        code: 404,
        status: "NOT_FOUND",
        message: `models/${model} is not found for API version v1beta, or is not supported for generateContent.`,
      };
    case "too-long":
      return {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      };
    case "bad-request":
    case "policy":
      return { code: 400, status: "INVALID_ARGUMENT", message: "Request contains an invalid argument." };
    case "server-error":
      return { code: 500, status: "INTERNAL", message: "An internal error has occurred." };
  }
}
