// Events of a trajectory that only a team's attempt has. Events of one member also name it in `member`.
import { llmSpecs } from "../declared/agent-preset.ts";
import * as t from "../schema.ts";
import { count, event, programEnding } from "./trajectory-event.ts";

/** Why only the processes of one member, or all of them, waited. */
export const waitReason = t.about(
  t.oneOf("gpu", "rate-limit", "provider", "operator", "suspended", "pause"),
  "operator: only a person can fix it, e.g. a key; suspended: a cluster had stopped the job; pause: of the person who works on it",
);

const { model, scaffold } = llmSpecs;
const member = t.about(t.text, "the name of the member");

export const teamEvents = [
  event(
    "member-start",
    { member, agent: t.about(t.anyText, "its preset"), kind: t.oneOf("command", "llm") },
    {
      role: t.about(t.anyText, "what it reads after the prompt"),
      model: t.about(model, "of an llm member"),
      scaffold: t.about(scaffold, "of an llm member"),
      gateway: t.about(t.listOf({ type: "object" }), "models that its program may call"),
    },
  ),
  event("member-end", {
    member,
    result: t.about(programEnding, "how its scaffold or its program ended, or what ended it"),
  }),
  event("board", {
    member: t.about(t.text, "the sender; of a program's message, the folder of the outbox in which it lay"),
    to: t.about(t.text, "a member, or all"),
    purpose: t.about(
      t.oneOf("message", "hand-over"),
      "hand-over: members that start after the sender may start",
    ),
    text: t.anyText,
  }),
  event("board-refused", {
    member: t.about(t.text, "the sender"),
    because: t.about(t.anyText, "why the message was not delivered"),
  }),
  event("member-wait", {
    member,
    why: waitReason,
    durationMs: t.about(count, "of its wait, without the time in which the whole sandbox was frozen"),
    frozen: t.about(t.flag, "whether the processes of this member were frozen; the deadline did not move"),
  }),
] as const;
