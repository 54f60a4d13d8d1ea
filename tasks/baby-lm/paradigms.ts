// The twelve paradigms of `house-pairs`, as data. `[right|wrong]` is the only word that differs.

export type Template = { text: string; words: Record<string, string[]> };
export type Paradigm = { name: string; phenomenon: string; templates: Template[] };

const one = ["man", "woman", "boy", "girl", "child", "teacher", "doctor", "officer"];
const many = ["men", "women", "boys", "girls", "children", "teachers", "doctors", "officers"];
const place = ["house", "room", "street", "city", "school"];
const state = ["old", "ready", "tired", "happy", "sick"];
const thing = ["book", "letter", "door", "picture", "car", "table", "machine"];
const things = thing.map((word) => `${word}s`);
const name = ["John", "Mary", "George", "Helen"];

export const paradigms: Paradigm[] = [
  {
    name: "agreement_plain",
    phenomenon: "agreement",
    templates: [
      { text: "the {one} [was|were] very {state}.", words: { one, state } },
      { text: "the {many} [were|was] very {state}.", words: { many, state } },
    ],
  },
  {
    name: "agreement_across_phrase",
    phenomenon: "agreement",
    templates: [
      { text: "the {one} with the {many} [was|were] in the {place}.", words: { one, many, place } },
      { text: "the {many} with the {one} [were|was] in the {place}.", words: { many, one, place } },
    ],
  },
  {
    name: "agreement_there",
    phenomenon: "agreement",
    templates: [
      { text: "there [was|were] a {one} in the {place}.", words: { one, place } },
      { text: "there [were|was] many {many} in the {place}.", words: { many, place } },
    ],
  },
  {
    name: "determiner_noun",
    phenomenon: "determiner",
    templates: [
      { text: "{name} saw [this|these] {thing}.", words: { name, thing } },
      { text: "{name} saw [these|this] {things}.", words: { name, things } },
    ],
  },
  {
    name: "determiner_adjective_noun",
    phenomenon: "determiner",
    templates: [
      { text: "{name} wanted [that|those] new {thing}.", words: { name, thing } },
      { text: "{name} wanted [those|that] new {things}.", words: { name, things } },
    ],
  },
  {
    name: "anaphor_gender",
    phenomenon: "anaphor",
    templates: [
      {
        text: "the {man} {saw} [himself|herself].",
        words: { man: ["man", "boy", "father", "king", "brother"], saw: ["saw", "found", "asked", "told"] },
      },
      {
        text: "the {woman} {saw} [herself|himself].",
        words: {
          woman: ["woman", "girl", "mother", "lady", "sister"],
          saw: ["saw", "found", "asked", "told"],
        },
      },
    ],
  },
  {
    name: "anaphor_number",
    phenomenon: "anaphor",
    templates: [
      {
        text: "the {man} had {seen} [himself|themselves].",
        words: { man: ["man", "boy", "father", "king"], seen: ["seen", "found", "asked", "told", "lost"] },
      },
      {
        text: "the {men} had {seen} [themselves|himself].",
        words: { men: ["men", "boys", "girls", "women"], seen: ["seen", "found", "asked", "told", "lost"] },
      },
    ],
  },
  {
    name: "pronoun_case",
    phenomenon: "case",
    templates: [
      { text: "{name} gave [him|he] the {thing}.", words: { name, thing } },
      { text: "[he|him] gave the {thing} to {name}.", words: { thing, name } },
    ],
  },
  {
    name: "participle_after_have",
    phenomenon: "verb form",
    templates: [
      { text: "the {one} had [gone|went] to the {place}.", words: { one, place } },
      { text: "the {one} [went|gone] to the {place}.", words: { one, place } },
    ],
  },
  {
    name: "form_after_modal",
    phenomenon: "verb form",
    templates: [
      { text: "the {one} would [come|came] to the {place}.", words: { one, place } },
      { text: "the {one} [came|come] from the {place}.", words: { one, place } },
    ],
  },
  {
    name: "ever_after_no",
    phenomenon: "negative polarity",
    templates: [
      { text: "[no|the] {one} has ever seen the {place}.", words: { one, place } },
      { text: "the {one} had [never|ever] found the {thing}.", words: { one, thing } },
    ],
  },
  {
    name: "article_before_vowel",
    phenomenon: "article",
    templates: [
      {
        text: "it was [an|a] {open} {thing}.",
        words: { open: ["old", "open", "American", "important", "empty"], thing },
      },
      {
        text: "it was [a|an] {big} {thing}.",
        words: { big: ["big", "small", "new", "large", "long"], thing },
      },
    ],
  },
];
