// The setting tokenizer_class, in config.json and in tokenizer_config.json.

import { notScorable } from "@mlrb/formats/judged/admission";
import type { CleanFindings } from "./clean-findings.ts";
import { clip } from "./clip.ts";
import type { Exact } from "./exact-json.ts";
import { settingTrouble } from "./setting-value.ts";
import { settingsTable } from "./settings-table.ts";

const known = new Set(settingsTable.tokenizer.classes);

/** Loads tokenizer.json as it is. */
const plainFast = "PreTrainedTokenizerFast";

type ClassOptions = { file: string; findings: CleanFindings; fast: boolean; needsCode?: boolean };

/**
 * The class if transformers has it. `needsCode`: the settings name code for the tokenizer. `fast`: there is a
 * tokenizer.json, which holds the whole tokenizer; later versions of transformers name only a class that loads it
 * (TokenizersBackend).
 */
export function cleanTokenizerClass(
  value: Exact,
  { file, findings, fast, needsCode = false }: ClassOptions,
): Exact | undefined {
  if (value === null || (typeof value === "string" && known.has(value))) return value;
  const trouble = settingTrouble(value, "text");
  const code = file === "config.json" ? "config" : "settings";
  if (typeof value !== "string" || trouble)
    findings.reasons.push({ code, detail: `${file}: tokenizer_class ${trouble?.detail ?? "is not a text"}` });
  else {
    const detail = `${file}: tokenizer_class is ${clip(value)}, which transformers ${settingsTable.transformers} does not have`;
    if (needsCode)
      findings.reasons.push({
        code: notScorable,
        detail: `${detail}, and no code of a submission is run; save a tokenizer.json with ${plainFast}`,
      });
    else if (fast) {
      findings.dropped.push({ file, key: "tokenizer_class", why: "unknown; tokenizer.json says all" });
      return plainFast;
    } else findings.undecided.push({ code, detail: `${detail}; save a tokenizer.json with ${plainFast}` });
  }
  return undefined;
}
