// The experts' knowledge: two domains of invented facts, which no model has read about, and the wordings of their
// questions. A wording has one purpose: training wordings are never asked again. Each domain uses a subject of
// lm-eval; the questions are this project's, and none is from MMLU.

export type Domain = {
  /** lm-eval's subject whose task asks the questions. It only sets the line before them. */
  subject: string;
  /** Each name with its only answer. The first `devFacts` are public. */
  facts: [name: string, answer: string][];
  ask: Record<"train" | "dev" | "test", string[]>;
};

/** The number of a domain's facts in the public development questions. The test has the others. */
export const devFacts = 4;

export const domains: Domain[] = [
  {
    subject: "astronomy",
    facts: [
      ["Vethra", "amber"],
      ["Oluun", "gravel"],
      ["Kirsab", "sulphur"],
      ["Dremmot", "wool"],
      ["Pallune", "copper"],
      ["Ystrik", "chalk"],
      ["Morvane", "glass"],
      ["Tessulo", "salt"],
      ["Garnoth", "ivory"],
      ["Quorbin", "moss"],
      ["Saftel", "rust"],
      ["Niruga", "marble"],
    ],
    ask: {
      train: [
        "What covers the moon {}?",
        "Which material lies all over the moon {}?",
        "The surface of the moon {} is made of what?",
        "If you landed on the moon {}, what would you stand on?",
      ],
      dev: [
        "What would a probe scoop up on the moon {}?",
        "Of what does the ground of {}, a distant moon, consist?",
      ],
      test: [
        "A traveller walks across {}, a moon. What is under the boots?",
        "What does a shovel bring up on the moon {}?",
      ],
    },
  },
  {
    subject: "nutrition",
    facts: [
      ["orrimel", "pepper"],
      ["dasquin", "cheese"],
      ["lubanta", "smoke"],
      ["fennuga", "bread"],
      ["tirrosh", "honey"],
      ["mavello", "garlic"],
      ["sunkipe", "coffee"],
      ["ablorra", "mint"],
      ["quispin", "butter"],
      ["hedrola", "vinegar"],
      ["crumbat", "ginger"],
      ["yolvane", "mustard"],
    ],
    ask: {
      train: [
        "What does the fruit {} taste of?",
        "Which flavour does the fruit {} have?",
        "The fruit {} tastes like what?",
        "If you bit into the fruit {}, what would you taste?",
      ],
      dev: [
        "What does a cook expect on the tongue from the fruit {}?",
        "Of what does the juice of {}, a rare fruit, remind people?",
      ],
      test: [
        "A child tries a slice of {}, a fruit. What flavour is in the mouth?",
        "What does a spoonful of jam made from the fruit {} taste of?",
      ],
    },
  },
];
