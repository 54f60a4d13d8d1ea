"""Scores a unigram and a bigram of the public text on the held-out text, in the scorer's own windows."""

from measure import measure
from mlrb_kit.anchors_stage import anchors_stage
from mlrb_kit.ngram import read_public
from mlrb_kit.ngram_rows import ngram_rows
from mlrb_kit.ratio import ratio

if __name__ == "__main__":
    anchors_stage(lambda public, private: ngram_rows(read_public(public), private, ratio), measure)
