"""Honest recipes that were written after the code that judges them: a count that no threshold was fitted to."""

CASES = {}
if __name__ == "__main__":
    print("[]")
