// Decides a rule on given or known models by what the stage `identity` found, as the verdict does.
import { type Identity, identity } from "@mlrb/formats/judged/identity";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import type { Finding, RuleArguments } from "@mlrb/kit/rules/rule-method";
import { ruleMethods } from "@mlrb/kit/rules/rule-methods";

/** `found`: the content of an identity.json, or its path. */
export function judgeIdentity(method: string, found: Identity | string, given: RuleArguments): Finding {
  const read = typeof found === "string" ? mustFollow(identity, readJson(found), found) : found;
  const nothing = { folder: ".", weights: [], ledger: "none", budgetMs: 1 };
  return ruleMethods[method]!.decide!({ ...nothing, identity: read }, given);
}
