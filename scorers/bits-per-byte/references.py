"""Scores a unigram and a bigram of the public text on the held-out text, in the scorer's own windows."""

from measure import measure
from mlrb_kit.references_stage import references_stage
from scorer_library.ngram import read_public
from scorer_library.ngram_rows import ngram_rows
from scorer_library.ratio import ratio

if __name__ == "__main__":
    references_stage(lambda public, private: ngram_rows(read_public(public), private, ratio), measure)
