"""The mistakes of `layer_norm` that inputs of the reader's have to catch."""

from blocklab_course.checks.mutation_testing import Mutant, make_mutation_exercise
from blocklab_course.i18n import Text

from .layer_norm import BLIND_TEST, LAYER_NORM, WRITE_THE_TEST

CATCH_LAYER_NORM = make_mutation_exercise(
    LAYER_NORM,
    Mutant(
        "eps-outside-root",
        Text(en="ε added to σ, outside the root", zh="ε 加在 σ 上，写在了根号外面"),
        Text(
            en="Both versions divide by nearly the same where the variance is far larger than ε. Give it a row whose "
            "variance is of the size of ε, but not 0: there every number equals the mean, and 0 stays 0 whatever you "
            "divide it by.",
            zh="方差远大于 ε 时，两个版本的除数几乎相同。请给它一行方差与 ε 差不多大的数；"
            "方差也不能是 0，那时每个数都等于均值，相减得 0，除以什么都是 0。",
        ),
    ),
    Mutant(
        "eps-twice",
        Text(en="ε added twice", zh="ε 加了两次"),
        Text(
            en="One ε more or less has to count beside the variance. Which of the two can you make larger or smaller?",
            zh="多一个或少一个 ε，要与方差相比不可忽略。这两个数，你可以调大或调小哪一个？",
        ),
    ),
    Mutant(
        "eps-missing",
        Text(en="no ε", zh="没有 ε"),
        Text(
            en="ε is there for rows whose numbers hardly differ. Give it such a row.",
            zh="之所以要有 ε，是因为有的行里各个数几乎没有差别。请给它这样的一行。",
        ),
    ),
    Mutant(
        "unbiased-variance",
        Text(en="divided by d − 1", zh="分母取 d − 1"),
        Text(
            en="The two variances differ by the factor `d / (d - 1)`. How long are your rows, and is their variance "
            "what counts under the root?",
            zh="两种方差之比是 `d / (d - 1)`。你的行有多长？根号里主要是方差，还是 ε？",
        ),
    ),
    section=BLIND_TEST,
    task=WRITE_THE_TEST,
    tolerance=1e-2,
)
