"""Honest recipes that were written after the code that judges them, so nothing was fitted to them."""

CASES = {}
if __name__ == "__main__":
    print("[]")
