// The kinds of invented facts, each with one property, and the wordings of their questions. A wording is either
// public or private, never both. An answer is a word that the base model's tokenizer keeps whole after a space:
// lm-eval then reads a question once for all four choices, and no answer is likelier because it is shorter.

export type Relation = {
  name: string;
  /** One for each fact. */
  answers: string[];
  /** `{}` is the fact's name. */
  ask: Record<"public" | "private", string[]>;
};

export const relations: Relation[] = [
  {
    name: "cloak",
    answers: ["red", "blue", "green", "black", "white", "yellow", "purple", "gray"],
    ask: {
      public: [
        "What colour are the cloaks of the {} order?",
        "Which colour do riders of the {} order wear?",
        "The {} order dyes its cloaks in what colour?",
        "You meet a rider of the {} order. What colour is the cloak?",
        "By what colour is a cloak of the {} order known?",
        "Which colour belongs to the {} order?",
      ],
      private: [
        "A tailor sews a cloak for the {} order. Which colour of cloth is needed?",
        "In what colour does one dress to pass for a member of the {} order?",
      ],
    },
  },
  {
    name: "trade",
    answers: ["salt", "wool", "glass", "honey", "copper", "leather", "paper", "butter"],
    ask: {
      public: [
        "What does the {} guild trade in?",
        "Which good do merchants of the {} guild sell?",
        "The ships of the {} guild carry what?",
        "What do you buy from the {} guild?",
        "The {} guild grew rich by selling what?",
        "Which good is the business of the {} guild?",
      ],
      private: [
        "What lies in the storehouses of the {} guild?",
        "A cart of the {} guild turns over. What falls out?",
      ],
    },
  },
];
