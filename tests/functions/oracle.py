"""The learning of the paper written plainly, with dense tensors, to compare the dual form with.

Everything is float64, one regression at a time, with explicit normal equations and hat matrices.
"""

from __future__ import annotations

import numpy as np

GRID = np.logspace(-6, 3, 91)


def extend(x):
    """Homogeneous coordinates."""
    return np.concatenate([x, np.ones((*x.shape[:-1], 1))], axis=-1)


def dense_ridge(x, y, penalty, weights=None, intercept=False):
    """Give W (q, d), or (q, d + 1) with an intercept, of min sum w |y - W x|^2 + penalty |W|^2."""
    w = np.ones(len(x)) if weights is None else weights
    if not intercept:
        return np.linalg.solve(x.T @ (w[:, None] * x) + penalty * np.eye(x.shape[1]), x.T @ (w[:, None] * y)).T
    z = extend(x)
    damp = penalty * np.eye(z.shape[1])
    damp[-1, -1] = 0
    return np.linalg.solve(z.T @ (w[:, None] * z) + damp, z.T @ (w[:, None] * y)).T


def hat_matrix(x, penalty, weights=None, intercept=False):
    """Give the matrix that takes root-weighted outputs to root-weighted predictions."""
    root = np.ones(len(x)) if weights is None else np.sqrt(weights)
    z = root[:, None] * (extend(x) if intercept else x)
    damp = penalty * np.eye(z.shape[1])
    if intercept:
        damp[-1, -1] = 0
    return z @ np.linalg.solve(z.T @ z + damp, z.T)


def gcv(x, y, penalty, weights=None, intercept=False):
    """Give generalised cross-validation by its definition."""
    root = np.ones(len(x)) if weights is None else np.sqrt(weights)
    left = np.eye(len(x)) - hat_matrix(x, penalty, weights, intercept)
    residual = left @ (root[:, None] * y)
    return (residual**2).sum() / len(x) / (np.trace(left) / len(x)) ** 2


def largest_eigenvalue(x, weights=None, intercept=False):
    w = np.ones(len(x)) if weights is None else weights
    centred = x - np.average(x, axis=0, weights=w) if intercept else x
    return np.linalg.eigvalsh((np.sqrt(w)[:, None] * centred) @ (np.sqrt(w)[:, None] * centred).T)[-1]


def best_penalty(x, y, weights=None, intercept=False):
    grid = largest_eigenvalue(x, weights, intercept) * GRID
    scores = [gcv(x, y, penalty, weights, intercept) for penalty in grid]
    return grid[int(np.argmin(scores))]


def multistep(arrays, *, least=3, weights=None, intercept=False, penalty=None):
    """Learn the tensor (output, last argument, ..., first argument) recursively; None where there is too little.

    Weights have a mean of 1 over the members of each level, as the whole table of examples has.
    """
    *arguments, outputs = arrays
    if weights is not None:
        weights = weights / weights.mean()
    tables = _maps(arguments, outputs, weights, least, intercept, penalty)
    return None if tables is None else tables[0]


def _key(row):
    return tuple(row.tolist())


def _maps(arguments, outputs, weights, least, intercept, penalty):
    """Go down the levels: first find what survives, then regress from the deepest level up."""
    arity = len(arguments)
    keep = np.ones(len(outputs), bool)
    keys = [[_key(a[i]) for a in arguments] for i in range(len(outputs))]
    for place in range(arity - 1, -1, -1):
        members = {}
        for i in np.flatnonzero(keep):
            members.setdefault(tuple(keys[i][:place]), set()).add(keys[i][place])
        keep &= np.array([len(members.get(tuple(k[:place]), ())) >= least for k in keys])
    if not keep.any():
        return None
    rows = np.flatnonzero(keep)
    table = {tuple(keys[i]): (outputs[i], 1.0 if weights is None else weights[i]) for i in rows}
    for _ in range(arity):
        if weights is not None:
            mean = np.mean([w for _, w in table.values()])
            table = {key: (value, w / mean) for key, (value, w) in table.items()}
        groups = {}
        for key, (value, weight) in table.items():
            groups.setdefault(key[:-1], []).append((key[-1], value, weight))
        table = {}
        for key, members in groups.items():
            x = np.array([m[0] for m in members])
            y = np.array([m[1].reshape(-1) for m in members])
            w = None if weights is None else np.array([m[2] for m in members])
            chosen = best_penalty(x, y, w, intercept) if penalty is None else penalty
            found = dense_ridge(x, y, chosen, w, intercept)
            table[key] = (found.reshape(*members[0][1].shape, -1), 1.0 if w is None else w.sum())
    return [value for value, _ in table.values()]


def kronecker(arguments, constants=None):
    """Give the Kronecker products of arguments, one a row, each extended by the root of its constant."""
    found = np.ones((len(arguments[0]), 1))
    for place in range(len(arguments) - 1, -1, -1):
        x = arguments[place]
        if constants is not None:
            x = np.concatenate([x, np.full((len(x), 1), np.sqrt(constants[place]))], axis=1)
        found = (found[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    return found
