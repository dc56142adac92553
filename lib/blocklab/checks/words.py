"""What a verdict says that no table says: the messages that fit every exercise, by the id they are saved under."""

from blocklab.language import Text

WORDS = {
    "not-written-yet": Text(
        en="Not written yet. Replace the `...` and run the cell again.",
        zh="还没有写。请把 `...` 换成你的代码，再运行一次。",
    ),
    "no-return": Text(
        en="Your function returns nothing. Is a `return` missing?",
        zh="你的函数没有返回任何东西。是不是漏了 `return`？",
    ),
    "wrong-kind": Text(
        en="Hand in {wanted}; what came is {got}.",
        zh="请交{wanted}；现在收到的是{got}。",
    ),
    "class-not-instance": Text(
        en="`{got}` is a class. Make an instance of it first: `{got}(…)`.",
        zh="`{got}` 是一个类。请先创建它的实例：`{got}(…)`。",
    ),
    "signature": Text(
        en="The checker calls `{wanted}`, but your function is `{got}`: other arguments, or another number of them.",
        zh="检查时按 `{wanted}` 调用，而你的函数是 `{got}`：参数的个数或含义不同。",
    ),
    "module-attributes": Text(
        en="No input could be given to your Module. It takes the place of `{wanted}`: its parameters, buffers and "
        "settings must bear these names, and there must be none besides.",
        zh="没有一组输入能交给你的模块。它要代替 `{wanted}`：参数、缓冲区和设置都要用这些名字，也不能有多余的。",
    ),
    "state-dict-keys": Text(
        en="The weights do not load into your layer. Missing: {missing}. Too many: {unexpected}.",
        zh="权重无法载入你的层。缺少：{missing}。多余：{unexpected}。",
    ),
    "raises": Text(
        en="Your function stops with {error}",
        zh="你的函数报错，停了下来：{error}",
    ),
    "interrupted": Text(
        en="Stopped after {seconds:.0f} s: your function did not come to its end. Look for a loop that never finishes.",
        zh="{seconds:.0f} 秒后停止：你的函数一直没有结束。请看看有没有停不下来的循环。",
    ),
    "mutates-input": Text(
        en="Your function changes its input `{name}`: whoever called it still needs the old numbers. Work on a new "
        "tensor; `x -= m` and names ending in `_` write in place.",
        zh="你的函数改动了输入 `{name}`，而调用者还要用原来的数。请另建一个张量；"
        "`x -= m` 和以 `_` 结尾的方法都会原地改写。",
    ),
    "not-differentiable": Text(
        en="The numbers may be right, but no gradient comes through. Stay in torch: no `.item()`, `.tolist()`, "
        "`.detach()`, NumPy or `no_grad` on the way.",
        zh="数值也许是对的，但梯度传不回来。请全程使用 torch："
        "中间不要用 `.item()`、`.tolist()`、`.detach()`、NumPy 或 `no_grad`。",
    ),
    "wrong-type": Text(
        en="You returned {got}; wanted is {wanted}.",
        zh="你返回的是{got}，需要的是{wanted}。",
    ),
    "wrong-shape": Text(
        en="The shape is wrong: you returned {got}, wanted is {wanted}.",
        zh="形状不对：你返回的是 {got}，需要的是 {wanted}。",
    ),
    "wrong-dtype": Text(
        en="The type of the numbers is wrong: you returned {got}, wanted is {wanted}. A tensor made without `dtype=` "
        "is float32, whatever the input is.",
        zh="数的类型不对：你返回的是 {got}，需要的是 {wanted}。"
        "创建张量时若不写 `dtype=`，得到的总是 float32，与输入无关。",
    ),
    "wrong-device": Text(
        en="The result lies on another device: you returned {got}, wanted is {wanted}.",
        zh="结果放在了另一个设备上：你返回的在 {got}，需要在 {wanted}。",
    ),
    "nan": Text(
        en="Your result holds NaN or infinity where a number belongs. Look for a division by zero, or the root or the "
        "logarithm of something that is not positive.",
        zh="结果里出现了 NaN 或无穷大，而那里应当是普通的数。请看看有没有除以零，或者对不大于零的数开方、取对数。",
    ),
    "unknown": Text(
        en="Not right yet, and it is not a mistake I know. Here is where it differs first.",
        zh="还不对，而且不是我认识的错误。下面是最先出现差别的地方。",
    ),
}

SLOW = Text(
    en="It walks through the numbers in a Python loop: 4 times the size took {factor:.0f} times the steps. One call of "
    "torch on the whole tensor does the same, and much faster.",
    zh="它用 Python 循环逐个处理：规模变为 4 倍，步数变为 {factor:.0f} 倍。"
    "对整个张量只调用一次 torch，结果相同，而且快得多。",
)

RIGHT = Text(
    en="Right: it agrees with the reference on {cases} inputs.",
    zh="正确：在 {cases} 组输入上都与参考结果一致。",
)
RIGHT_WITH_GRADIENT = Text(
    en="Right: it agrees with the reference on {cases} inputs, gradients included.",
    zh="正确：在 {cases} 组输入上都与参考结果一致，梯度也一致。",
)
ADVICE = Text(en="One piece of advice: {advice}", zh="一点建议：{advice}")
MODULE_ADVICE = Text(
    en="Only {cases} of {total} inputs could be given to a Module like yours.",
    zh="你的模块只能接受全部 {total} 组输入中的 {cases} 组。",
)

SEVERAL = Text(en="{count:d} mistakes at once:", zh="{count:d} 处错误同时出现：")
INPUT = Text(en="input {name}", zh="输入 {name}")
YOURS = Text(en="your {what}", zh="你的{what}")
EXPECTED = Text(en="expected {what}", zh="应有的{what}")
AFTER_CALL = Text(en="{name} after the call", zh="调用后的 {name}")
GRADIENT = Text(en="gradient of {name}", zh="梯度（对 {name}）")
RESULT = Text(en="result", zh="结果")
RESULT_PART = Text(en="result {place}", zh="第 {place} 个结果")
ERROR_AT = Text(en="line {line} of your code: {code}", zh="你的代码第 {line} 行：{code}")
NOT_DIFFERENTIABLE = Text(en="no gradient", zh="没有梯度")
PART = Text(en="{what}, the part {where}", zh="{what}，其中的 {where}")

READ = Text(en="Read again: {link}", zh="可以再读：{link}")
PANEL = Text(en="See it on the panel: {panel}", zh="到面板上看一看：{panel}")
ONE_LINE = Text(en="Show me one line", zh="给我看一行")
A_FUNCTION = Text(en="a function", zh="一个函数")
A_MODULE = Text(en="an instance of nn.Module", zh="一个 nn.Module 的实例")
A_TENSOR = Text(en="a tensor", zh="一个张量")
A_TUPLE = Text(en="a tuple of {count}", zh="一个含 {count} 项的元组")
A_KIND = Text(en="`{kind}`", zh="类型为 `{kind}` 的值")
THE_ANSWER = Text(en="`{answer}`", zh=" `{answer}` ")
NOTHING = Text(en="none", zh="无")

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。是不是 {near}？全部练习：{names}",
)
