"""The messages that fit every exercise, by the id that is saved with the verdict."""

from blocklab_course.i18n import Text

MESSAGES = {
    "not-written-yet": Text(
        en="Not written yet. Replace the `...`, `None` or `pass` with your answer, and run the cell again.",
        zh="还没有写。请把 `...`、`None` 或 `pass` 换成你的答案，再运行这个单元格。",
    ),
    "no-return": Text(
        en="Your function returns nothing. Is a `return` missing?",
        zh="你的函数没有返回值。是不是漏了 `return`？",
    ),
    "wrong-kind": Text(
        en="Submit {wanted}; got {got}.",
        zh="这里要交的是{wanted}；收到的却是{got}。",
    ),
    "class-not-instance": Text(
        en="`{got}` is a class. Create an instance first: `{got}(…)`.",
        zh="`{got}` 是类，不是实例。请先创建它的实例：`{got}(…)`。",
    ),
    "signature": Text(
        en="The check calls `{wanted}` by position, but your function is `{got}`, which cannot be called that way.",
        zh="检查时按 `{wanted}` 的次序传入参数，而你的函数是 `{got}`，不能这样调用。",
    ),
    "module-attributes": Text(
        en="None of the inputs fits your Module. It stands for `{wanted}`: its parameters, buffers and settings must "
        "have these names, and there must be no others.",
        zh="任何一组输入都传不进你的模块。它要代替 `{wanted}`：参数、缓冲区和设置都要用这些名字，也不能多出别的。",
    ),
    "module-too-small": Text(
        en="Your Module normalizes a single number, so all norms are the same. Submit one for at least 4 numbers.",
        zh="你的模块只处理一个数，这时各种归一化的结果都一样。请交一个至少处理 4 个数的模块。",
    ),
    "module-too-large": Text(
        en="Your Module is too large for a check: it takes more than {numbers} numbers. Submit a smaller one.",
        zh="你的模块太大了，检查起来太费时间：它处理的数超过 {numbers} 个。请交一个小一些的。",
    ),
    "module-without-size": Text(
        en="Your Module has no sizes yet. Call it once on an input, then submit it.",
        zh="你的模块还没有确定大小。请先用一个输入调用它一次，再提交。",
    ),
    "module-sizes": Text(
        en="A Module with these sizes has no valid input: {error}",
        zh="这样大小的模块没有合法的输入：{error}",
    ),
    "other-sizes": Text(
        en="Your layer has other sizes than the weights of this check. Submit one with {sizes}.",
        zh="你的层与检查所用权重的大小不同。请交一个 {sizes} 的层。",
    ),
    "modes-differ": Text(
        en="On the same input your Module gives one result in training mode and another in eval mode. This norm has no "
        "running statistics and no dropout: it computes the same in both modes.",
        zh="输入相同，你的模块在训练模式和评估模式下的结果却不同。"
        "这种归一化没有运行统计量，也没有 Dropout：两种模式下的计算应当完全一样。",
    ),
    "state-dict-keys": Text(
        en="The weights do not load into your layer. Missing: {missing}. Unexpected: {unexpected}.",
        zh="权重无法载入你的层。缺少：{missing}。多余：{unexpected}。",
    ),
    "shared-parameters": Text(
        en="Two parts of your layer are one and the same Module: {names}. Create one for each, because they "
        "learn different weights.",
        zh="你的层里有两个部分其实是同一个模块：{names}。请分别创建，因为它们要学到的权重不同。",
    ),
    "raises": Text(
        en="Your function stops with {error}",
        zh="你的函数运行时报错：{error}",
    ),
    "none-used": Text(
        en="{names} may be None, and then your function stops with {error}. Ask `is not None` before you use an "
        "argument that may be None.",
        zh="{names} 可以是 None，而你的函数这时会报错：{error}。参数可以是 None 时，使用之前请先判断 `is not None`。",
    ),
    "not-examined": Text(
        en="The check cannot call what you submitted: {error}",
        zh="检查时无法调用你交的对象：{error}",
    ),
    "interrupted": Text(
        en="Stopped after {seconds:.0f} s: your function had not finished. Look for a loop that never ends, or for far "
        "too much work.",
        zh="{seconds:.0f} 秒后中止：你的函数还没有运行完。请检查有没有停不下来的循环，或者计算量过大的地方。",
    ),
    "stopped": Text(
        en="You stopped the check after {seconds:.0f} s, before it had finished.",
        zh="检查了 {seconds:.0f} 秒，还没有完成，你按了停止。",
    ),
    "mutates-input": Text(
        en="Your function changes its input `{name}`, but the caller still needs it as it was. Return a new value "
        "instead: `-=`, `append` and methods whose names end in `_` change `{name}` itself.",
        zh="你的函数改动了输入 `{name}`，而调用者还要用它原来的值。请返回新的值："
        "`-=`、列表的 `append` 和名字以 `_` 结尾的方法，改动的都是 `{name}` 本身。",
    ),
    "graph-kept": Text(
        en="The numbers are right, but after the call `{name}` still holds the graph, and that of every past step: "
        "training takes more and more memory until none is left. Update it inside `with torch.no_grad():`.",
        zh="数值是对的，但调用之后 `{name}` 带上了计算图：过去每一步的计算图都会留着，"
        "训练越久，占的内存越多，直到用完。请在 `with torch.no_grad():` 里更新它。",
    ),
    "input-returned": Text(
        en="You returned the input unchanged.",
        zh="你把输入原样返回了。",
    ),
    "not-differentiable": Text(
        en="The numbers may be right, but no gradient flows back. Stay in torch: no `.item()`, `.tolist()`, "
        "`.detach()`, NumPy or `no_grad` on the way.",
        zh="数值也许是对的，但梯度传不回来。请全程使用 torch："
        "中间不要用 `.item()`、`.tolist()`、`.detach()`、NumPy 或 `no_grad`。",
    ),
    "wrong-type": Text(
        en="You returned {got}; expected {wanted}.",
        zh="你返回的是{got}，需要的是{wanted}。",
    ),
    "wrong-shape": Text(
        en="The shape is wrong: you returned {got}, expected {wanted}.",
        zh="形状不对：你返回的是 {got}，需要的是 {wanted}。",
    ),
    "wrong-dtype": Text(
        en="The dtype is wrong: you returned {got}, expected {wanted}. Convert the result at the end. (`torch.zeros` "
        "and the like do not take on the dtype of the input: without `dtype=` they return float32.)",
        zh="数值类型不对：你返回的是 {got}，需要的是 {wanted}。请在最后转换结果的类型。"
        "（`torch.zeros` 这类函数不会沿用输入的类型：不写 `dtype=`，得到的就是 float32。）",
    ),
    "wrong-device": Text(
        en="The result is on the wrong device: you returned {got}, expected {wanted}.",
        zh="结果放错了设备：你返回的在 {got} 上，应当在 {wanted} 上。",
    ),
    "nan": Text(
        en="Your result has NaN or infinity where a number belongs. Look for a division by zero, −∞ minus −∞, or the "
        "root or logarithm of something that is not positive.",
        zh="结果里出现了 NaN 或无穷大，那里本应是普通的数。"
        "请检查有没有除以零、−∞ 减 −∞，或者对不大于零的数开方、取对数。",
    ),
    "two-results": Text(
        en="Called twice with the same input, your function gives two results ({what}: `{first}`, then `{second}`). "
        "Something random is at work, such as dropout or sampling, or something that is kept from earlier calls.",
        zh="同样的输入，调用两次，你的函数给出的结果不同（{what}：先是 `{first}`，后是 `{second}`）。"
        "要么有随机的东西在起作用，例如 Dropout 或采样；要么它留下了前面调用的内容。",
    ),
    "unknown": Text(
        en="Not right yet, and not a mistake I know. Here is the first difference.",
        zh="还不对，但我认不出这是哪一种错误。下面是最先出现差别的地方。",
    ),
    "unknown-answer": Text(en="Not right yet, and not a mistake I know.", zh="还不对，但我认不出这是哪一种错误。"),
}

SLOW = Text(
    en="Your function loops in Python: {steps[0]} steps at size {sizes[0]}, {steps[1]} at size {sizes[1]}. Operations "
    "on whole tensors do the same without a loop, and are much faster on large inputs.",
    zh="你的函数用了 Python 循环：规模为 {sizes[0]} 时要走 {steps[0]} 步，规模为 {sizes[1]} 时要走 {steps[1]} 步。"
    "改用对整个张量的运算，不用循环也能得到同样的结果，输入大时快得多。",
)

RIGHT = Text(
    en="Right: it agrees with the reference. Inputs tried: {cases}.",
    zh="正确：在 {cases} 组输入上都与参考结果一致。",
)
RIGHT_WITH_GRADIENT = Text(
    en="Right: it agrees with the reference, gradients included. Inputs tried: {cases}.",
    zh="正确：在 {cases} 组输入上都与参考结果一致，梯度也一致。",
)
RIGHT_ANSWER = Text(en="Right.", zh="正确。")
RIGHT_NUMBER = Text(en="Right: {what} = {value}.", zh="正确：{what} = {value}。")
ADVICE = Text(en="One piece of advice: {advice}", zh="一点建议：{advice}")
LEFT_OUT = Text(
    en="{count} more inputs do not fit a Module like yours and were left out.",
    zh="另有 {count} 组输入不适合你的模块，没有检查，这不影响结论。",
)
RANKS = Text(
    en="Your Module takes inputs with {ranks} axes only, so it was compared on such inputs.",
    zh="你的模块只接受有 {ranks} 个轴的输入，所以只在这样的输入上作了比较。",
)

OR = Text(en=" or ", zh=" 或 ")
NUMBERS_TOO = Text(en="The numbers differ, too.", zh="而且数值也不对。")
SEVERAL = Text(en="{count:d} mistakes at once:", zh="同时有 {count:d} 处错误：")
INPUT = Text(en="input {name}", zh="输入 {name}")
YOURS = Text(en="your {what}", zh="{what}（你的）")
EXPECTED = Text(en="expected {what}", zh="{what}（应为）")
AFTER_CALL = Text(en="{name} after the call", zh="调用后的 {name}")
DIFFERS_AFTER_CALL = {
    "wrong-type": Text(
        en="After the call `{name}` is {got}; expected {wanted}.",
        zh="调用之后，`{name}` 是{got}，应当是{wanted}。",
    ),
    "wrong-shape": Text(
        en="`{name}` has shape {got} after the call, expected {wanted}.",
        zh="调用之后，`{name}` 的形状是 {got}，应当是 {wanted}。",
    ),
    "wrong-dtype": Text(
        en="`{name}` has dtype {got} after the call, expected {wanted}.",
        zh="调用之后，`{name}` 的数值类型是 {got}，应当是 {wanted}。",
    ),
    "wrong-device": Text(
        en="`{name}` is on device {got} after the call, expected {wanted}.",
        zh="调用之后，`{name}` 在设备 {got} 上，应当在 {wanted} 上。",
    ),
}
GRADIENT = Text(en="gradient of {name}", zh="对 {name} 的梯度")
RESULT = Text(en="result", zh="结果")
RESULT_PART = Text(en="result {place}", zh="第 {place} 个结果")
ERROR_AT = Text(en="line {line} of your code: {code}", zh="你的代码第 {line} 行：{code}")
NOT_DIFFERENTIABLE = Text(en="no gradient", zh="没有梯度")
PART = Text(en="{what}, the part {where}", zh="{what}，其中的 {where}")

READ = Text(en="Read again: {link}", zh="请再读一读：{link}")
PANEL = Text(en="See it on the panel: {panel}", zh="到面板上看一看：{panel}")
ONE_LINE = Text(en="Show me one line", zh="给我看一行代码")
A_TEST = Text(en="Show me a test", zh="给我看一项检查")
LINE_OF_SOLUTION = Text(en="One line of a solution: {line}", zh="参考写法中的一行：{line}")
LINE_OF_CALCULATION = Text(en="One line of the calculation: {line}", zh="计算过程中的一行：{line}")
TEST_OF_ANSWER = Text(en="A test that the right answer passes: {line}", zh="正确答案能通过的一项检查：{line}")
A_FUNCTION = Text(en="a function", zh="一个函数")
A_MODULE = Text(en="an instance of nn.Module", zh="一个 nn.Module 的实例")
A_TENSOR = Text(en="a tensor", zh="一个张量")
A_TUPLE = Text(en="a tuple of {count}", zh="一个含 {count} 项的元组")
A_TUPLE_OR_LIST = Text(en="a tuple or list of {count}", zh="一个含 {count} 项的元组或列表")
A_KIND = Text(en="`{kind}`", zh="类型为 `{kind}` 的值")
NOT_CALLED = Text(
    en="a `{kind}` that still waits for its input (call it, as in `f(x)`)",
    zh="一个还没有拿到输入的 `{kind}`（请像 `f(x)` 那样调用它）",
)
THE_ANSWER = Text(en="`{answer}`", zh=" `{answer}`")
THE_TEXT = Text(en="the text `{answer}`, in quotation marks", zh="带引号的文本 `{answer}`")
NOTHING = Text(en="none", zh="无")
