"""A one-line exercise on the order of norm, sub-layer and sum."""

from blocklab.checks.row import wrong
from blocklab.checks.steps.one_number import one_number
from blocklab.language import Text

PRE_NORM_BY_HAND = one_number(
    name="pre_norm_by_hand",
    answer=15,  # x = 6, the norm halves, the sub-layer squares: 6 + (6 / 2) ** 2
    means=Text(en="x + sublayer(norm(x))", zh="x + sublayer(norm(x))"),
    mistakes=(
        wrong("post-norm", answer=21).hint(
            en="This is post-norm: you added first and halved the sum. In pre-norm the norm comes before the "
            "sub-layer.",
            zh="这是后置归一化（post-norm）：你先相加，再把和减半。前置归一化（pre-norm）的归一化在子层之前。",
        ),
        wrong("no-norm", answer=42).hint(
            en="The norm is missing: it halves what the sub-layer reads.", zh="漏了归一化：子层的输入要减半。"
        ),
        wrong("residual-missing", answer=9).hint(
            en="That is what the sub-layer gives. Add x to it.", zh="这是子层的输出。还要加上 x。"
        ),
        wrong("residual-normalized", answer=12).hint(
            en="You added the halved x. The residual connection carries x exactly as it came in.",
            zh="你加上的是减半之后的 x。残差连接应当原样传递 x。",
        ),
        wrong("only-the-residual-normalized", answer=39).hint(
            en="You halved the x that is added, and squared the whole one. It is the other way round.",
            zh="你把相加的 x 减半了，平方的却是原来的 x，正好反了。",
        ),
        wrong("result-normalized", answer=24).hint(
            en="You halved what the sub-layer gives. The norm stands before the sub-layer: halve, then square.",
            zh="你把子层的输出减半了。归一化在子层之前：先减半，再平方。",
        ),
        wrong("sum-normalized-too", answer=7.5).hint(
            en="Right up to the last step: the sum stays as it is.",
            zh="前面都对，只是最后一步多了：相加的结果保持不变。",
        ),
    ),
    section=Text(en="By hand", zh="动手算"),
    line="sublayer_reads = 6 / 2",
)
