"""Known mistakes of `cache_bytes`."""

from collections.abc import Callable

from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text


def those_of_keys_and_values(_heads: int, kv_heads: int) -> int:
    return kv_heads


def keys_and_values() -> int:
    return 2


def all_of_them(n: int) -> int:
    return n


def recipe(
    layers: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    bytes_each: int,
    *,
    tensors: Callable = keys_and_values,
    stored: Callable = those_of_keys_and_values,
    deep: Callable = all_of_them,
    wide: Callable = all_of_them,
    size: Callable = all_of_them,
    kind: Callable = all_of_them,
) -> int:
    return kind(tensors() * deep(layers) * stored(heads, kv_heads) * wide(head_dim) * size(bytes_each))


def divided(layers: int, heads: int, kv_heads: int, head_dim: int, bytes_each: int) -> int:
    return 2 * layers * kv_heads * (head_dim // heads) * bytes_each


TENSOR_MISTAKES = (
    wrong("two-missing", tensors=lambda: 1).hint(
        en="You count the keys or the values, not both. A token leaves one of each.",
        zh="键和值，你只算了一样。每个词元都留下一个键和一个值。",
    ),
    wrong("query-counted", tensors=lambda: 3).hint(
        en="You count three things, the query too. Nobody asks with an old query again, so it is not kept.",
        zh="你把查询也算了进去，一共算了三份。旧的查询不会再用，所以不必保存。",
    ),
    wrong("queries-kept-too", tensors=lambda: 1, stored=lambda heads, kv_heads: heads + 2 * kv_heads).hint(
        en="You keep the queries too: `heads + 2 * kv_heads`. Nobody asks with an old query again, so only keys and "
        "values are kept.",
        zh="你把查询也存了进去：`heads + 2 * kv_heads`。旧的查询不会再用，要存的只有键和值。",
    ),
    wrong("two-twice", tensors=lambda: 4).hint(
        en="Your result is twice what is stored. Keys and values make 2 once.",
        zh="你的结果是实际的两倍。键和值合起来，只乘一次 2。",
    ),
)

HEAD_MISTAKES = (
    wrong("query-heads", stored=lambda heads, kv_heads: heads).hint(
        en="You count the heads of the queries. Only keys and values are kept, and they have `kv_heads` heads.",
        zh="你算的是查询的头数。保存的只有键和值，它们的头数是 `kv_heads`。",
    ),
    wrong("heads-missing", stored=lambda heads, kv_heads: 1).hint(
        en="The heads are missing. Every head of keys and values keeps numbers of its own.",
        zh="漏了头数。键和值的每个头都各存各的。",
    ),
    wrong("group-size", stored=lambda heads, kv_heads: heads // kv_heads).hint(
        en="`heads / kv_heads` says how many queries share a head. What is stored are the shared heads, `kv_heads` of "
        "them.",
        zh="`heads / kv_heads` 是几个查询头共用一个键值头。要存的是这些共用的头，共 `kv_heads` 个。",
    ),
    wrong("group-size-with-a-fraction", stored=lambda heads, kv_heads: heads / kv_heads).hint(
        en="`heads / kv_heads` says how many queries share a head. What is stored are the shared heads themselves, "
        "`kv_heads` of them. (For SmolLM2 both are 3.)",
        zh="`heads / kv_heads` 是几个查询头共用一个键值头。要存的是这些共用的头本身，共 `kv_heads` 个。"
        "（在 SmolLM2 里，两者恰好都是 3。）",
    ),
    wrong("both-kinds-of-heads", stored=lambda heads, kv_heads: heads * kv_heads).hint(
        en="You multiply both numbers of heads. The queries' heads share what is stored and add nothing to it.",
        zh="你把两种头数相乘了。查询头共用存下的内容，自己并不多占地方。",
    ),
    wrong("both-kinds-added", stored=lambda heads, kv_heads: heads + kv_heads).hint(
        en="You add the queries' heads to those of keys and values. Queries are not kept.",
        zh="你把查询的头数也加了进去。查询不必保存。",
    ),
)

WIDTH_DIVIDED = wrong("width-divided", divided).hint(
    en="`head_dim` is the width of one head already. Do not divide it by the number of heads.",
    zh="`head_dim` 已经是一个头的宽度，不要再除以头数。",
)
SIZE_MISTAKES = (
    wrong("layers-missing", deep=lambda layers: 1).hint(
        en="That is one layer. Each layer has keys and values of its own.",
        zh="这只是一层的大小。每一层都有自己的键和值。",
    ),
    wrong("width-missing", wide=lambda head_dim: 1).hint(
        en="You count one number for a key. It is a vector of `head_dim` numbers.",
        zh="你给每个键只算了一个数。键是向量，有 `head_dim` 个数。",
    ),
    WIDTH_DIVIDED,
    *(
        WIDTH_DIVIDED.spelled(function)
        for function in (
            lambda layers, heads, kv_heads, head_dim, each: 2 * layers * kv_heads * head_dim // heads * each,
            lambda layers, heads, kv_heads, head_dim, each: 2 * layers * kv_heads * head_dim * each // heads,
            lambda layers, heads, kv_heads, head_dim, each: 2 * layers * kv_heads * head_dim * each / heads,
        )
    ),
    wrong("width-squared", wide=lambda head_dim: head_dim**2).hint(
        en="You square `head_dim`. A matrix has that size, but what is kept is a vector for each head.",
        zh="你把 `head_dim` 平方了。那是矩阵的大小，而每个头存的只是一个向量。",
    ),
    wrong("numbers-not-bytes", size=lambda bytes_each: 1).hint(
        en="That is how many numbers are kept. Asked is their size in bytes.",
        zh="这是存了多少个数。问的是占多少字节。",
    ),
    wrong("bits", size=lambda bytes_each: 8 * bytes_each).hint(
        en="Those are bits, 8 to a byte. `bytes_each` counts bytes already.",
        zh="这是比特数，一字节是 8 比特。`bytes_each` 本来就是字节数。",
    ),
    wrong("bits-divided", size=lambda bytes_each: bytes_each / 8).hint(
        en="You divide by 8, as if `bytes_each` counted bits. It counts bytes.",
        zh="你除以了 8，好像 `bytes_each` 是比特数。它是字节数。",
    ),
    wrong("always-two-bytes", size=lambda bytes_each: 2).hint(
        en="You take 2 bytes for each number, whatever `bytes_each` is. Use the argument.",
        zh="不论 `bytes_each` 是多少，你都按每个数 2 字节算。请使用传入的参数。",
    ),
    wrong("in-kibibytes", kind=lambda n: n / 1024).hint(
        en="You divide by 1024. Asked are bytes, not KiB.",
        zh="你除以了 1024。问的是字节数，不是 KiB。",
    ),
)


def sizes(layers: int, heads: int, kv_heads: int, head_dim: int, bytes_each: int = 2) -> dict[str, object]:
    return {
        "layers": layers,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "bytes_each": bytes_each,
    }


CACHE_BYTES = Exercise(
    name="cache_bytes",
    recipe=recipe,
    cases=(
        Case("SmolLM2", sizes(30, 9, 3, 64)),
        Case("Llama 2 7B", sizes(32, 32, 32, 128)),
        Case("Llama 3.1 8B", sizes(32, 32, 8, 128)),
        Case("Llama 3.1 70B", sizes(80, 64, 8, 128)),
        Case("Falcon 7B", sizes(32, 71, 1, 64)),
        Case("in float32", sizes(30, 9, 3, 64, 4)),
        Case("one layer", sizes(1, 9, 3, 64)),
        Case("more query heads", sizes(32, 64, 8, 128)),
        Case("narrow heads", sizes(32, 32, 8, 96)),
        Case("glassllm", sizes(4, 4, 2, 32)),
    ),
    mistakes=(*TENSOR_MISTAKES, *HEAD_MISTAKES, *SIZE_MISTAKES),
    section=Text(en="What a token leaves behind", zh="一个词元要存多少"),
    panel=Text(
        en="under *Whose cache is larger?*, the line below the picture gives the bytes a token of each model.",
        zh="在“谁的缓存更大？”一节里，图下那行字给出每个模型每个词元的字节数。",
    ),
    hint_line="numbers = layers * kv_heads * head_dim  # of the keys alone",
)
