// Rebuilds the settings of a tokenizer. Tokens may be any text; no other value names a file or a repository. The
// vocabulary itself (tokenizer.json …) is data and is kept as it is.

import type { CleanFindings } from "./clean-findings.ts";
import { clip } from "./clip.ts";
import { type Exact, type ExactTable, isExactNumber, isExactTable } from "./exact-json.ts";
import { settingTrouble } from "./setting-value.ts";
import { own, settingsTable } from "./settings-table.ts";
import { cleanTokenizerClass } from "./tokenizer-class.ts";

const { dropped } = settingsTable.tokenizer;
const settings = new Set(settingsTable.tokenizer.settings);
const tokenParts = new Set(["content", "lstrip", "rstrip", "normalized", "single_word", "special", "__type"]);
const idMax = 2 ** 31;

/** What happens to a setting. */
type Fate = { kind: "keep" } | { kind: "drop" | "reject" | "leave-open"; why: string };

/** tokenizer_config.json. */
export function cleanTokenizerConfig(table: ExactTable, findings: CleanFindings, fast: boolean): ExactTable {
  const file = "tokenizer_config.json";
  const { tokenizer_class: name, ...others } = withEarlierNames(table);
  const clean = cleanEach(others, { file, findings }, (key, value): Fate => {
    if (isTokenKey(key) || key === "added_tokens_decoder") return tokensFate(key, value);
    if (!settings.has(key)) return drop(own(dropped, key) ?? "no tokenizer reads it, or it names files");
    if (isExactTable(value) && Object.keys(value).length === 0) return keep;
    const trouble = settingTrouble(value, "plain");
    return trouble?.kind === "mistyped" ? leaveOpen(trouble.detail) : rejectIf(trouble?.detail);
  });
  const needsCode = own(table, "auto_map") !== undefined;
  const known =
    name === undefined ? undefined : cleanTokenizerClass(name, { file, findings, fast, needsCode });
  return known === undefined ? clean : { ...clean, tokenizer_class: known };
}

/** special_tokens_map.json. */
export function cleanSpecialTokens(table: ExactTable, findings: CleanFindings): ExactTable {
  return cleanEach(withEarlierNames(table), { file: "special_tokens_map.json", findings }, (key, value) =>
    isTokenKey(key) ? tokensFate(key, value) : drop("not a special token"),
  );
}

/** transformers 5 has other names for lists of special tokens, and for tables of them. */
function withEarlierNames(table: ExactTable): ExactTable {
  const { extra_special_tokens: extra, model_specific_special_tokens: named, ...others } = table;
  if (Array.isArray(extra)) {
    const { additional_special_tokens: additional } = others;
    others.additional_special_tokens = [...[additional ?? []].flat(), ...extra];
  } else if (extra !== undefined && extra !== null) others.extra_special_tokens = extra;
  if (named !== undefined && named !== null) {
    const both = isExactTable(named) && extra !== undefined && isExactTable(extra);
    others.extra_special_tokens = both ? { ...extra, ...named } : named;
  }
  return others;
}

/** added_tokens.json: the id of each token. */
export function cleanAddedTokens(table: ExactTable, findings: CleanFindings): ExactTable {
  return cleanEach(table, { file: "added_tokens.json", findings }, (_, value) =>
    rejectIf(isId(value) ? undefined : "is not the id of a token"),
  );
}

/** generation_config.json: scorers generate with their own settings and read only the special tokens. */
export function cleanGenerationConfig(table: ExactTable, findings: CleanFindings): ExactTable {
  return cleanEach(table, { file: "generation_config.json", findings }, (key, value) =>
    /^(bos|eos|pad|decoder_start)_token_id$/.test(key)
      ? keepIf(settingTrouble(value, "number")?.detail)
      : drop("scorers generate in their own way"),
  );
}

const keep: Fate = { kind: "keep" };
const drop = (why: string): Fate => ({ kind: "drop", why });
const leaveOpen = (why: string): Fate => ({ kind: "leave-open", why });
const keepIf = (why: string | undefined): Fate => (why === undefined ? keep : drop(why));
const rejectIf = (why: string | undefined): Fate => (why === undefined ? keep : { kind: "reject", why });

function cleanEach(
  table: ExactTable,
  { file, findings }: { file: string; findings: CleanFindings },
  fateOf: (key: string, value: Exact) => Fate,
): ExactTable {
  const kept: [string, Exact][] = [];
  for (const [key, value] of Object.entries(table)) {
    const fate = fateOf(key, value);
    if (fate.kind === "keep") kept.push([key, value]);
    else if (fate.kind === "drop") findings.dropped.push({ file, key, why: fate.why });
    else
      findings[fate.kind === "reject" ? "reasons" : "undecided"].push({
        code: "settings",
        detail: `${file}: ${clip(key)} ${fate.why}`,
      });
  }
  return Object.fromEntries(kept);
}

function isTokenKey(key: string): boolean {
  return (
    key === "additional_special_tokens" ||
    key === "extra_special_tokens" ||
    (/^[a-z][a-z0-9_]*_token$/.test(key) && !/^(add|use)_/.test(key))
  );
}

/** Tokens in another shape than the installed transformers reads are those of a later version. */
function tokensFate(key: string, value: Exact): Fate {
  const trouble = tokensTrouble(key, value);
  if (trouble !== undefined) return rejectIf(trouble);
  if (value === null) return keep;
  const list = key === "additional_special_tokens";
  const table = key === "added_tokens_decoder" || key === "extra_special_tokens";
  const read = list ? Array.isArray(value) : table ? isExactTable(value) : !Array.isArray(value);
  return read ? keep : leaveOpen("has another shape than the installed transformers reads");
}

/** Why a value holds no tokens. A token is any text, or a table of its text and flags. */
function tokensTrouble(key: string, value: Exact): string | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return undefined;
  if (Array.isArray(value))
    return value.map((item) => oneTokenTrouble(item)).find((trouble) => trouble !== undefined);
  if (!isExactTable(value)) return "is not a token";
  if (key === "added_tokens_decoder" || key.endsWith("_special_tokens")) {
    for (const [name, token] of Object.entries(value)) {
      const named = key === "added_tokens_decoder" ? /^\d{1,10}$/ : /^[a-z][a-z0-9_]*$/;
      if (!named.test(name) || /_(file|files|path|dir)$/.test(name))
        return `has the key ${clip(name)}, which names no token`;
      const trouble = oneTokenTrouble(token);
      if (trouble) return trouble;
    }
    return undefined;
  }
  return oneTokenTrouble(value);
}

function oneTokenTrouble(value: Exact): string | undefined {
  if (typeof value === "string") return undefined;
  if (value === null || !isExactTable(value)) return "holds something that is not a token";
  if (typeof own(value, "content") !== "string") return "holds a token without text";
  for (const [name, flag] of Object.entries(value)) {
    if (!tokenParts.has(name)) return `holds a token with the unknown part ${clip(name)}`;
    if (name === "__type" ? flag !== "AddedToken" : name !== "content" && typeof flag !== "boolean")
      return `holds a token whose ${name} is not true or false`;
  }
  return undefined;
}

function isId(value: Exact): boolean {
  return isExactNumber(value) && /^\d+$/.test(value.rawJSON) && Number(value.rawJSON) < idMax;
}
