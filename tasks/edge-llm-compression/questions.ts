// Questions of common knowledge, written for this project: does a model without some of its parts still know them?
// One of lm-eval's task files for MMLU asks them, but they are not MMLU. Every answer is one word, so no choice is
// likelier because it is shorter.
import type { ChoiceRow } from "../data/choice-rows.ts";

/** The subject whose task file asks the questions; lm-eval names it in a line before each question. */
export const carrier = "miscellaneous";

/** The right answer first, then three wrong answers of the same kind. */
const questions: [question: string, right: string, ...wrong: string[]][] = [
  ["What colour is fresh snow?", "white", "green", "purple", "orange"],
  ["What colour is healthy grass in spring?", "green", "red", "blue", "black"],
  ["Which animal says meow?", "cat", "horse", "cow", "duck"],
  ["Which animal barks and is kept as a pet?", "dog", "fish", "cow", "sheep"],
  ["Which animal gives people most of the milk they drink?", "cow", "dog", "cat", "lion"],
  ["Which insect makes honey?", "bee", "ant", "fly", "spider"],
  ["How many legs does a dog have?", "four", "two", "six", "eight"],
  ["How many days are there in a week?", "seven", "five", "nine", "twelve"],
  ["How many months are there in a year?", "twelve", "ten", "seven", "twenty"],
  ["What is two plus two?", "four", "three", "five", "seven"],
  ["What do we call frozen water?", "ice", "steam", "sand", "oil"],
  ["What falls from clouds and makes the streets wet?", "rain", "sand", "milk", "paper"],
  ["Which star gives the Earth its light by day?", "Sun", "Moon", "Mars", "Venus"],
  ["Which body goes around the Earth once a month?", "Moon", "Sun", "Mars", "Jupiter"],
  ["Which planet is called the red planet?", "Mars", "Venus", "Saturn", "Neptune"],
  ["Of which country is Paris the capital?", "France", "Spain", "Italy", "Japan"],
  ["Of which country is Rome the capital?", "Italy", "France", "Greece", "China"],
  ["Of which country is Tokyo the capital?", "Japan", "China", "India", "Brazil"],
  ["Of which country is London the capital?", "England", "Canada", "Germany", "Egypt"],
  ["In which country do the old pyramids stand beside the Nile?", "Egypt", "Russia", "Norway", "Japan"],
  ["Which continent is the Sahara desert in?", "Africa", "Europe", "Asia", "Australia"],
  ["Which season comes right after winter?", "spring", "summer", "autumn", "winter"],
  ["Which season is the coldest?", "winter", "summer", "spring", "autumn"],
  ["Which day comes right after Monday?", "Tuesday", "Friday", "Sunday", "Saturday"],
  ["In which month is Christmas celebrated?", "December", "March", "June", "August"],
  ["With which part of the body do we see?", "eyes", "ears", "feet", "hands"],
  ["With which part of the body do we hear?", "ears", "eyes", "knees", "hands"],
  ["Which organ pumps blood through the body?", "heart", "brain", "skin", "liver"],
  ["With which organ do people think?", "brain", "heart", "stomach", "skin"],
  ["Which gas do people need to breathe to stay alive?", "oxygen", "helium", "hydrogen", "methane"],
  ["Of which metal are wedding rings most often made?", "gold", "iron", "lead", "zinc"],
  ["What is the opposite of hot?", "cold", "fast", "loud", "tall"],
  ["What is the opposite of up?", "down", "fast", "old", "new"],
  ["What is the opposite of day?", "night", "year", "noon", "week"],
  ["Which language do most people in Mexico speak?", "Spanish", "French", "German", "Chinese"],
  ["Which language do most people in Brazil speak?", "Portuguese", "Russian", "English", "Arabic"],
  ["Who wrote the play about Romeo and Juliet?", "Shakespeare", "Darwin", "Newton", "Einstein"],
  ["Who is known for the theory of relativity?", "Einstein", "Shakespeare", "Darwin", "Mozart"],
  ["Where does one go to borrow books?", "library", "hospital", "bank", "factory"],
  ["Who treats people when they are ill?", "doctor", "lawyer", "farmer", "painter"],
  ["Which fruit is long, yellow and curved?", "banana", "apple", "orange", "cherry"],
  ["What do bakers make out of flour, water and yeast?", "bread", "glass", "paper", "soap"],
  ["What does one wear on the feet?", "shoes", "gloves", "hat", "rings"],
  ["What does a clock show?", "time", "weight", "distance", "heat"],
  ["What do bees, birds and planes all do?", "fly", "swim", "read", "sing"],
  ["In which animal group are eagles and owls?", "birds", "fish", "insects", "snakes"],
  ["What do people put up against the rain?", "umbrella", "window", "pillow", "mirror"],
  ["On which side of a compass is the top of most maps?", "north", "south", "east", "west"],
];

/** Rows as in cais/mmlu. The right answer is in each of the four places equally often. */
export function questionRows(): ChoiceRow[] {
  return questions.map(([question, right, ...wrong], at) => {
    const answer = at % 4;
    return { question, subject: carrier, choices: wrong.toSpliced(answer, 0, right), answer };
  });
}
