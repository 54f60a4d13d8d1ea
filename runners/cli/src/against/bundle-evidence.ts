// What is known of two scores if one or both are from an evidence bundle. Its samples have digests as ids, so the ids of
// this machine's samples are replaced in the same way. Its keys name data and parameters, and no code.
import type { Reading } from "@mlrb/formats/read-format";
import type { ChangeEvidence, KeyChange, ScorePlace } from "@mlrb/report/against/score-change";
import { type KeyOutline, outlineOf, partDifferences } from "../bundle/differing-parts.ts";
import { withoutRowIds } from "../bundle/redact-rows.ts";
import type { BundleSide } from "./bundle-side.ts";
import type { ScoreEvidence } from "./score-evidence.ts";

/** `old`: undefined if it is no bundle. `cache`: knows the new side if that is no bundle. */
type Sources = { old: BundleSide; cache: ScoreEvidence } | { old: BundleSide | undefined; now: BundleSide };

export function bundleEvidence(sources: Sources): ChangeEvidence {
  return {
    keys: (place) => keysOf(sources, place),
    samples: (side, place) => {
      if (side === "old")
        return sources.old?.samples(place) ?? { kind: "unreadable", cause: "a report.json holds no samples" };
      return "now" in sources ? sources.now.samples(place) : redacted(sources.cache.samples("now", place));
    },
  };
}

function redacted(samples: Reading<string>): Reading<string> {
  return samples.kind === "ok" ? { kind: "ok", value: withoutRowIds(samples.value) } : samples;
}

function keysOf(sources: Sources, place: ScorePlace): KeyChange[] | undefined {
  const { old } = sources;
  const before = old?.made(place);
  if (!old || !before) return undefined;
  if ("now" in sources) {
    const after = sources.now.made(place);
    return after && outlineChanges(before, after, old);
  }
  const entry = sources.cache.entry("now", place);
  if (!entry) return undefined;
  // the cache also knows the code, and each stage up to the attempt
  return sources.cache.keys(place) ?? outlineChanges(before, outlineOf(entry), old);
}

type Made = NonNullable<ReturnType<BundleSide["made"]>>;

/** Undefined if the scored files differ and nothing else is known to: the code may differ too. */
function outlineChanges(before: Made, after: KeyOutline, bundle: BundleSide): KeyChange[] | undefined {
  if (before.key === after.key) return [];
  const differences = partDifferences(before, after);
  const ofAttempt = new Set(
    before.inputs.filter(({ from }) => bundle.isOfAttempt(from)).map(({ name }) => name),
  );
  const measuring = differences.filter(({ kind, name }) => !(kind === "input" && ofAttempt.has(name)));
  if (measuring.length > 0)
    return measuring.map(({ kind, name, old, now }) => ({
      ...{
        stage: "score",
        words: kind === "environment" ? "environment changed" : `${kind} changed: ${name}`,
      },
      ...{ old, now },
    }));
  if (differences.length > 0) return undefined;
  return [{ stage: "score", words: "code or host changed: keys", old: before.key, now: after.key }];
}
