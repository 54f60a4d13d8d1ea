// Runs aimock, a third-party mock of model providers, with a script of answers: the n-th answer is for a request
// with n tool results.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Foreign, foreignNpm } from "../machines/foreign-software.ts";

const aimockPackage = "@copilotkit/aimock@1.43.0";

// biome-ignore lint/suspicious/noExplicitAny: its types are not installed
type Any = any;

/** Usage of every answer, in the fields of all three protocols; without them aimock counts nothing. */
const aimockUsage = { input: 100, output: 20 };
const usage = {
  prompt_tokens: aimockUsage.input,
  completion_tokens: aimockUsage.output,
  input_tokens: aimockUsage.input,
  output_tokens: aimockUsage.output,
};

export type AimockAnswer = {
  content?: string;
  reasoning?: string;
  toolCalls?: { name: string; arguments: string | object }[];
};

export type Aimock = {
  url: string;
  requests(): { path: string; body: Any }[];
  stop(): Promise<void>;
};

type ScriptOptions = {
  chaos?: Record<string, number>;
  /** Answers requests without these tools, e.g. for a title. */
  else?: AimockAnswer;
  /** Whether a request belongs to the script. */
  of?(request: Any): boolean;
};

export const aimockSoftware = (): Promise<Foreign> => foreignNpm([aimockPackage]);

/** `folder` has the installed software. */
export async function startAimock(
  folder: string,
  script: AimockAnswer[],
  { chaos, else: other, of = () => true }: ScriptOptions = {},
): Promise<Aimock> {
  const entry = join(folder, "node_modules/@copilotkit/aimock/dist/index.js");
  const { LLMock } = (await import(pathToFileURL(entry).href)) as Any;
  const mock = new LLMock({ port: 0, host: "127.0.0.1", strict: true, ...(chaos && { chaos }) });
  const results = (request: Any) => request.messages.filter(({ role }: Any) => role === "tool").length;
  script.forEach((answer, index) => {
    mock.on({ predicate: (request: Any) => of(request) && results(request) === index }, { ...answer, usage });
  });
  if (other) mock.on({ predicate: (request: Any) => !of(request) }, { ...other, usage });
  await mock.start();
  return { url: mock.url, requests: () => mock.getRequests(), stop: () => mock.stop() };
}
