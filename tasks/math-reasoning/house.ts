// The prelude of every smoke theorem. It is this project's own, since smoke's Lean has no library: no tactics, no
// infix signs, only what the families need. Public and private data have the same text, as House.lean. The text is
// in TypeScript, so that a change of it changes the data's key.

const numbers = (
  "zero one two three four five six seven eight nine ten " +
  "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
).split(" ");

/** Names of the numbers from 0 to 20, in English and in Lean; the index is the number. */
export const numerals: readonly string[] = numbers;

const definitions = numbers.map((name, at) => {
  const value = at === 0 ? "Nat.zero" : `Nat.succ ${numbers[at - 1]}`;
  return `noncomputable def ${name} : Nat := ${value}`;
});

export const house = `-- House: a small prelude for a Lean 4 without its library. Logic, equality, numbers up to twenty.
prelude

set_option genCtorIdx false
set_option genInjectivity false
set_option genSizeOf false

universe u v

-- names that Lean's compiler asks for; being unsafe, no theorem can use them
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcProof {α : Prop} : α

inductive True : Prop where
  | intro : True

inductive False : Prop

theorem False.elim {p : Prop} (h : False) : p := False.rec (fun _ => p) h

def Not (p : Prop) : Prop := p → False

inductive And (p q : Prop) : Prop where
  | intro (left : p) (right : q) : And p q

theorem And.left {p q : Prop} (h : And p q) : p := And.rec (fun x _ => x) h

theorem And.right {p q : Prop} (h : And p q) : q := And.rec (fun _ y => y) h

inductive Or (p q : Prop) : Prop where
  | inl (h : p) : Or p q
  | inr (h : q) : Or p q

theorem Or.elim {p q r : Prop} (h : Or p q) (f : p → r) (g : q → r) : r := Or.rec f g h

inductive Eq {α : Sort u} (a : α) : α → Prop where
  | refl : Eq a a

theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a :=
  Eq.rec (motive := fun c _ => Eq c a) Eq.refl h

theorem Eq.trans {α : Sort u} {a b c : α} (h : Eq a b) (k : Eq b c) : Eq a c :=
  Eq.rec (motive := fun d _ => Eq a d) h k

theorem both {α : Sort u} {β : Sort v} (f : α → β) {a b : α} (h : Eq a b) : Eq (f a) (f b) :=
  Eq.rec (motive := fun c _ => Eq (f a) (f c)) Eq.refl h

inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat

noncomputable def succ (n : Nat) : Nat := Nat.succ n

noncomputable def plus (n m : Nat) : Nat := Nat.rec n (fun _ sum => Nat.succ sum) m

noncomputable def times (n m : Nat) : Nat := Nat.rec Nat.zero (fun _ product => plus product n) m

${definitions.join("\n")}
`;
