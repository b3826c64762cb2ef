"""Fits sums of parts to measured times: calibrate.py, speed.py."""


def fit(rows, steps):
    """Numbers to multiply the parts with, by descent along each.

    A row has `parts`, each a share of the measured time, so that squares of
    relative errors are least. No number is negative."""
    parts = [row['parts'] for row in rows]
    of = range(len(parts[0]))
    grid = [[sum(p[i] * p[k] for p in parts) for k in of] for i in of]
    sums = [sum(p[i] for p in parts) for i in of]
    times = [1.0 for _ in of]
    for _ in range(steps):
        for i in of:
            rest = sum(grid[i][k] * times[k] for k in of) - sums[i]
            times[i] = max(0.0, times[i] - rest / grid[i][i])
    return times


def errors(rows, times):
    """Relative errors of the fitted times."""
    return [abs(sum(p * t for p, t in zip(row['parts'], times)) - 1)
            for row in rows]


def spread(found):
    """Median, nine in ten, worst."""
    found = sorted(found)
    return (found[len(found) // 2], found[int(0.9 * len(found))], found[-1])
