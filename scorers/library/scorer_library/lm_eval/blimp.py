"""BLiMP's rows as lm-eval reads them, and the phenomenon, one of twelve, of each of its 67 paradigms.

The grouping is that of the authors' own results: github.com/alexwarstadt/blimp at commit 0ee32bc,
raw_results/summary/models_summary.jsonl (Warstadt et al., TACL 8, 2020). The rows'
`linguistics_term` is not used: it splits off the two paradigms of animate subjects as a thirteenth
phenomenon, `s-selection`.
"""

from scorer_library.lm_eval.data import Columns, HubData, Row

PHENOMENA = {
    "anaphor agreement": ["anaphor_gender_agreement", "anaphor_number_agreement"],
    "argument structure": [
        "animate_subject_passive",
        "animate_subject_trans",
        "causative",
        "drop_argument",
        "inchoative",
        "intransitive",
        "passive_1",
        "passive_2",
        "transitive",
    ],
    "binding": [
        "principle_A_c_command",
        "principle_A_case_1",
        "principle_A_case_2",
        "principle_A_domain_1",
        "principle_A_domain_2",
        "principle_A_domain_3",
        "principle_A_reconstruction",
    ],
    "control/raising": [
        "existential_there_object_raising",
        "existential_there_subject_raising",
        "expletive_it_object_raising",
        "tough_vs_raising_1",
        "tough_vs_raising_2",
    ],
    "determiner-noun agreement": [
        "determiner_noun_agreement_1",
        "determiner_noun_agreement_2",
        "determiner_noun_agreement_irregular_1",
        "determiner_noun_agreement_irregular_2",
        "determiner_noun_agreement_with_adj_2",
        "determiner_noun_agreement_with_adj_irregular_1",
        "determiner_noun_agreement_with_adj_irregular_2",
        "determiner_noun_agreement_with_adjective_1",
    ],
    "ellipsis": ["ellipsis_n_bar_1", "ellipsis_n_bar_2"],
    "filler-gap dependency": [
        "wh_questions_object_gap",
        "wh_questions_subject_gap",
        "wh_questions_subject_gap_long_distance",
        "wh_vs_that_no_gap",
        "wh_vs_that_no_gap_long_distance",
        "wh_vs_that_with_gap",
        "wh_vs_that_with_gap_long_distance",
    ],
    "irregular forms": ["irregular_past_participle_adjectives", "irregular_past_participle_verbs"],
    "island effects": [
        "adjunct_island",
        "complex_NP_island",
        "coordinate_structure_constraint_complex_left_branch",
        "coordinate_structure_constraint_object_extraction",
        "left_branch_island_echo_question",
        "left_branch_island_simple_question",
        "sentential_subject_island",
        "wh_island",
    ],
    "NPI licensing": [
        "matrix_question_npi_licensor_present",
        "npi_present_1",
        "npi_present_2",
        "only_npi_licensor_present",
        "only_npi_scope",
        "sentential_negation_npi_licensor_present",
        "sentential_negation_npi_scope",
    ],
    "quantifiers": [
        "existential_there_quantifiers_1",
        "existential_there_quantifiers_2",
        "superlative_quantifiers_1",
        "superlative_quantifiers_2",
    ],
    "subject-verb agreement": [
        "distractor_agreement_relational_noun",
        "distractor_agreement_relative_clause",
        "irregular_plural_subject_verb_agreement_1",
        "irregular_plural_subject_verb_agreement_2",
        "regular_plural_subject_verb_agreement_1",
        "regular_plural_subject_verb_agreement_2",
    ],
}

PHENOMENON_OF = {paradigm: name for name, paradigms in PHENOMENA.items() for paradigm in paradigms}

COLUMNS: Columns = {"sentence_good": "text", "sentence_bad": "text"}


def trouble(_paradigm: str, row: Row) -> str | None:
    sides = ("sentence_good", "sentence_bad")
    return next((f"{side} is empty" for side in sides if not row[side].strip()), None)


DATA = HubData(
    "blimp",
    "nyu-mll/blimp",
    "train",
    None,
    lambda paradigm: COLUMNS if paradigm in PHENOMENON_OF else None,
    trouble,
)


def task_of(paradigm: str) -> str:
    """The paradigm's task in lm-eval."""
    return f"blimp_{paradigm}"
