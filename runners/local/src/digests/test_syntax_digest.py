"""Run by syntax-digests.test.ts."""

import textwrap
import unittest

from syntax_digest import syntax_digest


def digest(source: str) -> str:
    return syntax_digest(textwrap.dedent(source).encode())


BASE = """
    import json

    LIMIT = 3

    def f(a, b=1):
        return a + b
"""


class SyntaxDigest(unittest.TestCase):
    def test_comments_formatting_docstrings_and_annotations_change_nothing(self) -> None:
        other = '''
            """A module."""
            import json  # for later

            LIMIT: int = 3
            def f(
                a: int,
                b: int=1,
            ) -> int:
                """Adds."""
                # indeed
                return (a + b)
        '''
        self.assertEqual(digest(BASE), digest(other))

    def test_a_constant_an_operator_a_default_or_a_name_changes_it(self) -> None:
        for old, new in [("3", "4"), ("a + b", "a - b"), ("b=1", "b=2"), ("import json", "import csv")]:
            self.assertNotEqual(digest(BASE), digest(BASE.replace(old, new)), new)

    def test_one_and_true_and_none_are_three_values(self) -> None:
        self.assertEqual(len({digest("x = 1"), digest("x = True"), digest("x = 1.0"), digest("x = None")}), 4)

    def test_a_docstring_counts_where_the_module_reads_it(self) -> None:
        source = '"""One."""\nprint(__doc__)\n'
        self.assertNotEqual(digest(source), digest(source.replace("One", "Two")))

    def test_a_docstring_counts_where_it_is_read_by_the_name_as_text(self) -> None:
        source = '"""One."""\nprint(globals()["__doc__"])\n'
        self.assertNotEqual(digest(source), digest(source.replace("One", "Two")))

    def test_annotations_count_where_something_reads_them(self) -> None:
        source = "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n"
        self.assertNotEqual(digest(source), digest(source.replace("int", "float")))

    def test_a_function_of_a_docstring_only_is_a_function_that_passes(self) -> None:
        self.assertEqual(digest('def f():\n    """Nothing."""\n'), digest("def f():\n    pass\n"))

    def test_a_text_that_is_used_is_no_docstring(self) -> None:
        self.assertNotEqual(digest('def f():\n    return "a"\n'), digest('def f():\n    return "b"\n'))

    def test_what_is_no_python_has_no_digest(self) -> None:
        for source in ["def f(:", "\0", "x = ('"]:
            with self.assertRaises((SyntaxError, ValueError)):
                digest(source)


if __name__ == "__main__":
    unittest.main()
