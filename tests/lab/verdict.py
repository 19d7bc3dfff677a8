"""The verdict that report has to give."""

import math


def verdict_of(right: int, judged: int) -> str:
    """Whether 99.9% of all samples are right: the 95% interval of Wilson has to be above or below. Below, two or more
    have to be wrong, and so many in 2.5% of all cases at most, by the binomial distribution."""
    if not judged:
        return "undecided"
    z, wanted, share, wrong = 1.959964, 0.999, right / judged, judged - right
    middle = share + z * z / (2 * judged)
    half = z * math.sqrt(share * (1 - share) / judged + (z / (2 * judged)) ** 2)
    low, high = ((middle + sign * half) / (1 + z * z / judged) for sign in (-1, 1))
    fewer = sum(math.exp(math.lgamma(judged + 1) - math.lgamma(count + 1) - math.lgamma(judged - count + 1) +
                         count * math.log(1 - wanted) + (judged - count) * math.log(wanted))
                for count in range(wrong))
    is_broken = high < wanted and wrong >= 2 and 1 - fewer <= 0.025
    return "kept" if low >= wanted else "broken" if is_broken else "undecided"
