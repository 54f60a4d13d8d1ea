// An esbuild plugin that refuses TypeScript that Node refuses. Node only strips types, but esbuild compiles enums,
// namespaces and parameter properties. Such a stage would be planned and keyed, and then fail to start. Files of the
// workspace's packages are left to tsc (erasableSyntaxOnly).
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join, relative, sep } from "node:path";
import type { PartialMessage, Plugin } from "esbuild";

export const nodeSyntax: Plugin = {
  name: "node-syntax",
  setup(context) {
    const root = context.initialOptions.absWorkingDir!;
    context.onLoad({ filter: /\.[mc]?ts$/ }, ({ path }) => {
      if (path.startsWith(join(root, "runners") + sep)) return undefined;
      const text = readFileSync(path, "utf8");
      const error = mayNeedCode.test(text) ? refusal(relative(root, path), text) : undefined;
      return error && { errors: [error] };
    });
  },
};

/** A text without a match is not parsed: loading the parser takes a tenth of a second. */
const mayNeedCode =
  /\b(?:enum|namespace|module|private|public|protected|readonly|override)\b|\bimport\s+(?:type\s+)?[\w$]+\s*=|\bexport\s*=|(?:[=(,:?&|!;{}[+*/-]|=>|\breturn|\bawait|\byield|^)\s*<[^<=]/mu;

function refusal(file: string, text: string): PartialMessage | undefined {
  try {
    stripTypeScriptTypes(text);
    return undefined;
  } catch (error) {
    const { code, message, stack = "" } = error as NodeJS.ErrnoException;
    if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return undefined; // esbuild words the other errors better
    const line = Number(/:(\d+)\n/.exec(stack)?.[1] ?? 1);
    const lineText = text.split("\n")[line - 1] ?? "";
    const [, indent, mark] = /^( *)(\^+)$/m.exec(stack) ?? [];
    const column = indent?.length ?? lineText.search(/\S/);
    const length = mark?.length ?? lineText.trim().length;
    const bytes = (to: string) => Buffer.byteLength(to);
    const location = { file, line, lineText, column: bytes(lineText.slice(0, column)) };
    return {
      text: message,
      location: { ...location, length: bytes(lineText.slice(column, column + length)) },
    };
  }
}
