"""Rows and columns of a given matrix that a submission has in another order, or of which it has a part.

Equal values show them where nothing was trained; nearness shows them where the rows were trained.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from scorer_library.identity.alike import NEAR, VERSION, cosine, roundings
from scorer_library.identity.work import Work

# Of 1 - cosine, that of the nearest row over that of the next one. Rows of unrelated models may share a
# direction, and then have many near rows: embeddings trained apart had 0.97 or more, those with noise of
# 80 % at most 0.89.
DISTINCT = 0.9
TRIED = 16  # rows that must have a match before all are matched
LARGE = 4  # values of a row that are looked for first: large ones are rare
SHOWN_MIN = 8  # values of a moved row: fewer are found in some row by chance
SHOWN = 256  # most rows that show the columns: with 90 % zeros, each column has about 25 values in them


@dataclass(frozen=True)
class Order:
    """For each row and column of a submission, the given one. None: all in place. -1: it holds only zeros."""

    rows: Tensor | None
    columns: Tensor | None
    few: float = 0.0  # the share of rows or columns that were found by too few values

    def of(self, given: Tensor) -> Tensor:
        some = given if self.rows is None else given[self.rows]
        return some if self.columns is None else some[:, self.columns]

    def repeated(self) -> float:
        """The largest share of rows or columns that show no order: they take a given one which another has,
        or have too few values."""
        filled = [one[one >= 0] for one in self.axes()]
        return max([self.few, *(1 - len(one.unique()) / max(1, len(one)) for one in filled)])

    def axes(self) -> list[Tensor]:
        return [one for one in (self.rows, self.columns) if one is not None]


def exact_order(own: Tensor, given: Tensor, work: Work) -> Order | None:
    """Of a matrix that has only given values and zeros, up to rounding; None if there is no such order."""
    if own.ndim != 2 or given.ndim != 2:
        return None
    for version in roundings(own, given):
        if (
            own.shape[1] == given.shape[1]
            and (rows := rows_with_these_values(own, version, work)) is not None
        ):
            return Order(rows, None, found_by_few(own, rows))
        if own.shape[0] == given.shape[0]:
            columns = rows_with_these_values(own.T, version.T, work)
            if columns is not None:
                return Order(None, columns, found_by_few(own.T, columns))
        columns = columns_of_moved_rows(own, version, work)
        if columns is not None:
            rows = rows_with_these_values(own, version[:, columns], work)
            if rows is not None:
                few = max(found_by_few(own, rows), found_by_few(own.T, columns))
                return Order(rows, columns, few)
    return None


def values_left(own: Tensor, given: Tensor) -> Tensor | None:
    """The values of a longer vector that `own` holds in their order, or zeros; None if it does not."""
    if own.ndim != 1 or given.ndim != 1 or not 0 < len(own) < len(given):
        return None
    for version in roundings(own, given):
        if not bool((torch.isin(own, version) | (own == 0)).all()):
            continue
        rest = iter(version.tolist())
        left = [next((one for one in rest if value in (0, one)), None) for value in own.tolist()]
        if None not in left:
            return torch.tensor(left)
    return None


def found_by_few(own: Tensor, rows: Tensor) -> float:
    """The share of rows that hold fewer than SHOWN_MIN values, of those that are not in their place."""
    counts = (own != 0).sum(1)
    moved = rows != torch.arange(len(rows))
    few = (counts > 0) & (counts < SHOWN_MIN) & moved
    return float(few.sum()) / max(1, int((counts > 0).sum()))


def rows_with_these_values(own: Tensor, given: Tensor, work: Work) -> Tensor | None:
    """For each row of `own`, a row of `given` that has all its values but zeros; None if a row has none.

    This holds where pruning left too few values for a cosine. A row in its place is not looked for. A row of
    zeros has the index -1.
    """
    left = own != 0
    counts = left.sum(1)
    found = torch.full((len(own),), -1)
    if own.shape == given.shape:
        work.values(own.numel())
        same = ((own == given) | ~left).all(1) & (counts > 0)
        found[same] = torch.nonzero(same).flatten()
    moved = torch.nonzero((found < 0) & (counts > 0)).flatten()
    by_column = given.T.contiguous() if len(moved) > TRIED else given.T  # read in one piece
    fits: dict[int, Tensor] = {}
    tried = moved[torch.linspace(0, len(moved) - 1, min(TRIED, len(moved))).long()]
    for at in [*tried.tolist(), *moved.tolist()]:
        if at not in fits:
            fits[at] = rows_like(own[at], given, by_column, work)
            if len(fits[at]) == 0:
                return None
    for at, rows in fits.items():
        found[at] = rows[0]
    filled = torch.nonzero(counts > 0).flatten()
    taken, times = found[filled].unique(return_counts=True)
    if bool((times > 1).any()):
        for at in filled[torch.isin(found[filled], taken[times > 1])].tolist():
            fits.setdefault(at, rows_like(own[at], given, by_column, work))  # also of those in place
        options = [fits[at] if at in fits else found[at : at + 1] for at in filled.tolist()]
        once = each_once(options, len(given))
        found[filled] = torch.where(once >= 0, once, found[filled])
    return found if len(filled) > 0 else None


def rows_like(row: Tensor, given: Tensor, by_column: Tensor, work: Work) -> Tensor:
    """Rows of `given` that have the values of `row` at their places, where these are not zero."""
    left = torch.nonzero(row).flatten()
    large = row.abs().topk(min(LARGE, len(left))).indices
    work.equal(len(given))
    likely = torch.nonzero(by_column[large[0]] == row[large[0]]).flatten()
    for column in large[1:].tolist():
        likely = likely[by_column[column, likely] == row[column]]
    work.equal(len(likely) * len(left))
    return likely[(given[likely][:, left] == row[left]).all(1)]


def each_once(options: list[Tensor], length: int) -> Tensor:
    """For each row one of its options, so that as many rows as possible have their own; -1 for the others."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = torch.tensor([0, *map(len, options)]).cumsum(0).numpy()
    chosen = torch.cat(options).numpy()
    graph = csr_array((chosen * 0 + 1, chosen, starts), shape=(len(options), length))
    return torch.from_numpy(maximum_bipartite_matching(graph, perm_type="column")).long()


def columns_of_moved_rows(own: Tensor, given: Tensor, work: Work) -> Tensor | None:
    """For each column of `own` the given one, where rows moved too; None if a row has no given one.

    A row that was moved and cut has values of one given row, in whatever order.
    """
    filled = own != 0
    counts, wanted = filled.sum(1), filled.sum(0).clamp_max(TRIED)
    mine, theirs = [], []
    for at in counts.argsort(descending=True)[:SHOWN].tolist():
        if counts[at] == 0 or (len(mine) >= TRIED and bool((filled[mine].sum(0) >= wanted).all())):
            break
        rows = rows_that_hold(own[at], given, work)
        if len(rows) == 0:
            return None
        if len(rows) == 1:
            mine.append(at)
            theirs.append(int(rows[0]))
    if len(mine) < min(TRIED, len(own)):
        return None
    return rows_with_these_values(own[mine].T, given[theirs].T, work)


def rows_that_hold(row: Tensor, given: Tensor, work: Work) -> Tensor:
    """Rows of `given` that have these values at any place. Large values are rare, so they come first."""
    values = row[row != 0].unique()
    likely = torch.arange(len(given))
    for value in values[values.abs().argsort(descending=True)][:TRIED]:
        work.equal(len(likely) * given.shape[1])
        some = given if len(likely) == len(given) else given[likely]
        likely = likely[(some == value).any(1)]
        if len(likely) <= 1:
            break
    if len(likely) == 1 and not bool(torch.isin(values, given[likely[0]]).all()):
        return likely[:0]
    return likely


def chance(rows: int, width: int) -> float:
    """The cosine that the best of `rows` unrelated rows of this width seldom exceeds."""
    return min(0.95, 1.5 * math.sqrt(2 * math.log(max(2, rows)) / max(1, width)))


def near_rows(own: Tensor, given: Tensor, work: Work) -> Tensor | None:
    """For each row of `own`, the index of the row of `given` that is most alike; None if they are not near.

    Both are matrices of one width. TRIED rows are tried first.
    """
    rows, width = given.shape
    least = max(NEAR, chance(rows, width))
    theirs = torch.nn.functional.normalize(given, dim=1)
    mine = torch.nn.functional.normalize(torch.nan_to_num(own.float(), 0.0, 0.0, 0.0), dim=1)
    filled = torch.nonzero(mine.abs().sum(1) > 0).flatten()
    if len(filled) == 0:
        return None
    tried = filled[torch.linspace(0, len(filled) - 1, min(TRIED, len(filled))).long()]
    work.products(len(tried), rows, width)
    nearest = (mine[tried] @ theirs.T).topk(min(2, rows), dim=1).values
    apart = (1 - nearest[:, 0]) / (1 - nearest[:, -1]).clamp_min(1e-6)
    if float(nearest[:, 0].median()) < least or (rows > 1 and float(apart.median()) > DISTINCT):
        return None
    work.products(len(own), rows, width)
    found = torch.cat([(part @ theirs.T).argmax(1) for part in mine.split(1024)])
    return found if cosine(own, given[found]) >= least else None


def near_order(own: Tensor, given: Tensor, work: Work) -> Order | None:
    """In place, by near rows or by near columns: the nearest of these."""
    found: list[tuple[float, Order]] = []
    if own.shape == given.shape and (in_place := abs(cosine(own, given))) >= NEAR:
        found.append((in_place, Order(None, None)))
    if own.ndim == 2 and given.ndim == 2 and (not found or found[0][0] < VERSION):
        if own.shape[1] == given.shape[1] and (rows := near_rows(own, given, work)) is not None:
            found.append((cosine(own, given[rows]), Order(rows, None)))
        if own.shape[0] == given.shape[0] and (columns := near_rows(own.T, given.T, work)) is not None:
            found.append((cosine(own, given[:, columns]), Order(None, columns)))
    return max(found, key=lambda one: one[0])[1] if found else None
