"""What glassllm's loss is beyond the 128 tokens that it was trained on, rule by rule, as it was once measured."""

from blocklab_course.i18n import Text
from blocklab_course.tables import read_table

from .known_angles import RULES

NAMES = {
    **RULES,
    "none": Text(en="no rule", zh="不用规则"),
    "window": Text(en="no rule, but a window of 128", zh="不用规则，只看最近 128 个词元"),
}
SHOWN = "alice_below_128", "alice_128_160", "alice_384_512", "oz_below_128", "oz_beyond_128"
BOOKS = (  # the second begins where its positions do: a Chinese character takes two places
    Text(en="Alice, positions               ", zh="《爱丽丝》的位置               "),
    Text(en="Oz, positions", zh="《绿野仙踪》的位置"),
)
POSITIONS = "  0–128  128–160  384–512        0–128  128–512"
ROW = "{:7.3f}  {:7.3f}  {:7.3f}      {:7.3f}  {:7.3f}   {}"


def recorded_losses() -> dict[str, dict[str, float]]:
    """By rule, the columns of data/rotary_beyond_128.csv, which says how they were measured."""
    return {
        row.pop("rule"): {column: float(loss) for column, loss in row.items()}
        for row in read_table("rotary_beyond_128")
    }


def table() -> None:
    """A line for each rule: how the loss goes on along Alice, and its means on The Wizard of Oz."""
    print(*BOOKS, sep="")
    print(POSITIONS)
    for rule, losses in recorded_losses().items():
        print(ROW.format(*(losses[column] for column in SHOWN), NAMES[rule]))
