"""The method of Grefenstette, Dinu, Zhang, Sadrzadeh & Baroni (2013), from text to Spearman, in plain Python.

Written only to check composita: lists, dictionaries and loops, no NumPy and nothing of the package. It reads sentences
that are simpler than real ones: each token is a word of its own class, and arguments hang on their head.
"""

import math
from collections import Counter, defaultdict

# ---------------------------------------------------------------- text

CLASSES = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}


def read(text):
    """Give each sentence as a list of (word, head, relation); a word is None where it is no content word."""
    sentences = []
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        sentences.append([
            (f"{row[2].lower()}-{CLASSES[row[3]]}" if row[3] in CLASSES else None, int(row[6]) - 1, row[7])
            for row in rows
        ])  # fmt: skip
    return sentences


def ranked(counts, letters):
    return sorted((w for w in counts if w[-1] in letters), key=lambda w: (-counts[w], "nvar".index(w[-1]), w))


def arguments(sentence, verb):
    """Give the places of the subject and of the object of a verb, of either voice."""
    found = {}
    for place, (_, head, relation) in enumerate(sentence):
        if head == verb:
            role = {"nsubj": "subject", "obj": "object", "nsubj:pass": "object", "obl:agent": "subject"}.get(relation)
            if role:
                found[role] = place
    return found.get("subject"), found.get("object")


def targets(sentence, words):
    """Give every word and phrase of a sentence with the places of its tokens."""
    for place, (word, head, relation) in enumerate(sentence):
        if word in words:
            yield word, (place,)
        if word in words and word[-1] == "v":
            subject, object_ = arguments(sentence, place)
            known = {p for p in (subject, object_) if p is not None and sentence[p][0] in words}
            if subject in known:
                yield f"{word}({sentence[subject][0]})", (place, subject)
            if {subject, object_} <= known:
                yield f"{word}({sentence[object_][0]}, {sentence[subject][0]})", (place, object_, subject)
        if relation == "amod" and word in words and sentence[head][0] in words:
            yield f"{word}({sentence[head][0]})", (place, head)


def count(sentences, words, contexts):
    """Count each word and phrase with the context tokens of its sentence that are not its own tokens."""
    cells = defaultdict(Counter)
    for sentence in sentences:
        for item, own in targets(sentence, words):
            for place, (word, _, _) in enumerate(sentence):
                if place not in own and word in contexts:
                    cells[item][word] += 1
                else:
                    cells[item] += Counter()
    return cells


# ---------------------------------------------------------------- vectors


def ppmi(cells, core, contexts):
    """Weigh rows; sums of columns and of the whole are those of the core."""
    columns = {c: sum(cells[w][c] for w in core) for c in contexts}
    whole = sum(columns.values())
    rows = {}
    for item, row in cells.items():
        total = sum(row[c] for c in contexts)
        rows[item] = [
            max(0.0, math.log(row[c] * whole / (total * columns[c]))) if row[c] and columns[c] else 0.0
            for c in contexts
        ]  # fmt: skip
    return rows


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def eigen(matrix):
    """Find all eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations, largest first."""
    n = len(matrix)
    a, v = [row[:] for row in matrix], [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(60):
        if math.fsum(a[i][j] ** 2 for i in range(n) for j in range(i)) < 1e-26 * math.fsum(
            a[i][i] ** 2 for i in range(n)
        ):
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p][q]:
                    rotate(a, v, p, q)
    order = sorted(range(n), key=lambda i: -a[i][i])
    return [a[i][i] for i in order], [[row[i] for row in v] for i in order]


def rotate(a, v, p, q):
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
    t = math.copysign(1, theta) / (abs(theta) + math.hypot(theta, 1))
    c = 1 / math.hypot(t, 1)
    s = t * c
    for k in range(len(a)):
        a[k][p], a[k][q] = c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]
    for k in range(len(a)):
        a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
        v[k][p], v[k][q] = c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]


def right_vectors(rows, k):
    """Give the first k right singular vectors of the core, each with its largest entry positive."""
    n = len(rows[0])
    gram = [[math.fsum(row[i] * row[j] for row in rows) for j in range(n)] for i in range(n)]
    vectors = eigen(gram)[1][:k]
    return [[x if max(v, key=abs) > 0 else -x for x in v] for v in vectors]


def normalised(x):
    length = math.sqrt(dot(x, x))
    return [a / length for a in x]


# ---------------------------------------------------------------- regression


def solve(matrix, right):
    """Solve for several right sides by Gauss's elimination with pivots."""
    n = len(matrix)
    rows = [row + extra for row, extra in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]


def gcv(xs, ys, penalty):
    """Compute generalised cross-validation from the hat matrix: m |(1 - H) Y|^2 / (tr (1 - H))^2."""
    m = len(xs)
    if penalty == math.inf:
        return sum(dot(y, y) for y in ys) / m
    kernel = [[dot(x, z) for z in xs] for x in xs]
    shifted = [[k + penalty * (i == j) for j, k in enumerate(row)] for i, row in enumerate(kernel)]
    unit = [[float(i == j) for j in range(m)] for i in range(m)]
    rest = [[penalty * x for x in row] for row in solve(shifted, unit)]  # 1 - H
    errors = [[dot(row, column) for column in zip(*ys, strict=True)] for row in rest]
    return m * sum(dot(e, e) for e in errors) / sum(rest[i][i] for i in range(m)) ** 2


def ridge(xs, ys, penalties):
    """Give the matrix of the linear map with the penalty that GCV prefers: rows of outputs, columns of inputs."""
    penalty = min(penalties(xs), key=lambda p: gcv(xs, ys, p))
    d, q = len(xs[0]), len(ys[0])
    if penalty == math.inf:
        return [[0.0] * d for _ in range(q)]
    left = [[math.fsum(x[i] * x[j] for x in xs) + penalty * (i == j) for j in range(d)] for i in range(d)]
    right = [[math.fsum(x[i] * y[j] for x, y in zip(xs, ys, strict=True)) for j in range(q)] for i in range(d)]
    return [list(column) for column in zip(*solve(left, right), strict=True)]


def apply(matrix, x):
    return [dot(row, x) for row in matrix]


def two_step(examples, penalties, least=3):
    """Learn a map from objects to maps from subjects to sentences; ``examples``: (object, subject, sentence)."""
    groups = defaultdict(list)
    for object_, subject, sentence in examples:
        groups[tuple(object_)].append((subject, sentence))
    objects, maps = [], []
    for object_, members in groups.items():
        if len(members) >= least:
            matrix = ridge([x for x, _ in members], [y for _, y in members], penalties)
            objects.append(list(object_))
            maps.append([cell for row in matrix for cell in row])
    if len(maps) < least:
        return None
    return ridge(objects, maps, penalties)


def apply_two(tensor, object_, subject):
    flat = apply(tensor, object_)
    d = len(subject)
    return [dot(flat[i : i + d], subject) for i in range(0, len(flat), d)]


# ---------------------------------------------------------------- scores


def cosine(x, y):
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            result[place] = (start + end - 1) / 2
        start = end
    return result


def spearman(x, y):
    a, b = ranks(x), ranks(y)
    mean = (len(a) - 1) / 2
    return cosine([v - mean for v in a], [v - mean for v in b])
