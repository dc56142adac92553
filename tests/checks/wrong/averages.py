def merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, delta = count_a + count_b, mean_b - mean_a
    mean = mean_a + delta * (count_b / count)
    return count, mean, m2_a + m2_b + delta.square() * (count_a * count_b / count)


def empty_b_gives_b(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    if count_b == 0:
        return count_b, mean_b, m2_b
    return merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)


def empty_a_gives_a(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    if count_a == 0:
        return count_a, mean_a, m2_a
    return merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)


def harmonic(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + (mean_b - mean_a) ** 2 / (1 / count_a + 1 / count_b)


def by_variances(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    p, q = count_a / count, count_b / count
    variance = p * (m2_a / count_a) + q * (m2_b / count_b) + p * q * (mean_a - mean_b).square()
    return count, mean, count * variance


def whole_shares(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + (mean_b - mean_a) ** 2 * (count_a * count_b // count)


def start_replaced(average, value, momentum):
    return value.clone() if (average == 0).all() else (1 - momentum) * average + momentum * value


def guarded(takes_a, takes_b):
    """Takes the other part as it is where one looks empty."""

    def attempt(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
        if takes_b(count_a, mean_a, m2_a):
            return count_a + count_b, mean_b, m2_b
        if takes_a(count_b, mean_b, m2_b):
            return count_a + count_b, mean_a, m2_a
        return merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)

    return attempt


def never(*_part):
    return False


LOOKS_EMPTY = {
    "one number": lambda count, _mean, _m2: count == 1,
    "mean 0": lambda _count, mean, _m2: not mean.any(),
    "M2 of 0": lambda _count, _mean, m2: not m2.any(),
    "equal numbers": lambda count, _mean, m2: count > 1 and not m2.any(),
}


def mean_of_means(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    mean = (mean_a + mean_b) / 2
    spread = count_a * (mean_a - mean).square() + count_b * (mean_b - mean).square()
    return count_a + count_b, mean, m2_a + m2_b + spread


def from_mean_to_mean(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + count * (mean_a - mean_b) ** 2


def counts_forgotten(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + (mean_a - mean).square() + (mean_b - mean).square()


def m2_divided(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _m2 = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a / count_a + m2_b / count_b + (mean_b - mean_a) ** 2 * (count_a * count_b / count)


def absolute_distance(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _m2 = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + (mean_b - mean_a).abs() * (count_a * count_b / count)


def squares_forgotten(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b + count_a * (mean_a - mean) + count_b * (mean_b - mean)


WRONG = {
    "merge_statistics": {
        "from mean to mean": (from_mean_to_mean, {"between-with-the-common-count"}),
        "each M2 divided": (m2_divided, {"m2-divided"}),
        "absolute distance": (absolute_distance, {"absolute-distance"}),
        "counts forgotten": (counts_forgotten, {"between-once-for-each-part"}),
        "squares forgotten": (squares_forgotten, {"between-missing"}),
        **{f"{name} taken for empty, first": guarded(never, looks) for name, looks in LOOKS_EMPTY.items()},
        **{f"{name} taken for empty, second": guarded(looks, never) for name, looks in LOOKS_EMPTY.items()},
        "the plain mean in both": (mean_of_means, {"mean-of-means-for-both"}),
        "an empty second part replaces all": empty_b_gives_b,
        "an empty first part replaces all": empty_a_gives_a,
        "harmonic": (harmonic, {"count-divided-by"}),
        "by variances": (by_variances, {"empty-part-divided"}),
        "whole shares": whole_shares,
    },
    "ema_update": {
        "rest on both": (lambda a, v, m: (1 - m) * (a + v), {"rest-on-both"}),
        "divided": (lambda a, v, m: a + (v - a) / m, {"divided-by-momentum"}),
        "start replaced": start_replaced,
        "momentum or a tenth": lambda a, v, m: (1 - (m or 0.1)) * a + (m or 0.1) * v,
        "small steps only": lambda a, v, m: a + m * (v - a).clamp(-10, 10),
        "value clamped": lambda a, v, m: (1 - m) * a + m * v.clamp(-1e3, 1e3),
    },
    "values_per_mean": {"a text": ("64", {"wrong-kind"})},
}
