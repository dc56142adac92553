"""Texts of the controls, in the language of the panel."""

from blocklab_course.i18n import Text

TWO_SENTENCES = Text(en="{first} {second}", zh="{first}{second}")
"""Two sentences in a row."""

RUN_THE_CELL = Text(en="Run the cell to move it.", zh="运行这个单元格，就可以移动滑块。")
RUN_FIRST = Text(en="Run this cell (Shift + Enter), then {then}", zh="先运行这个单元格（Shift + Enter），再{then}")
WHAT_NEXT = {  # by whether the panel asks for a guess, and whether it has a slider
    (False, True): Text(en="drag", zh="拖动滑块"),
    (False, False): Text(en="try it", zh="动手试试"),
    (True, True): Text(en="guess and drag", zh="猜一猜、拖动滑块"),
    (True, False): Text(en="guess and try it", zh="猜一猜、动手试试"),
}
TRY_FALLBACK = Text(
    en='If it stays a picture after that, change the first cell to begin("en", panels="plain") and run both.',
    zh='运行之后还是一张不动的图，就把第一个单元格改成 begin("zh", panels="plain")，再把两个单元格都运行一遍。',
)
RUN_TO_ANSWER = Text(en="Run the cell to answer.", zh="运行这个单元格，就可以作答。")
WITHOUT_BUTTONS = Text(
    en='If no buttons appear, change the first cell to begin("en", panels="plain") and run both.',
    zh='运行之后还是没有按钮，就把第一个单元格改成 begin("zh", panels="plain")，再把两个单元格都运行一遍。',
)
RESET = Text(en="Reset", zh="重置")
SKIP = Text(en="Skip", zh="跳过")
COMMIT = Text(en="Guess", zh="就猜这个数")
PREDICT_FIRST = Text(en="Guess to unlock the controls.", zh="先猜一猜，才能动手。")

WORDS = {
    "reset": RESET,
    "play": Text(en="Play", zh="播放"),
    "pause": Text(en="Stop", zh="停下"),
    "skip": SKIP,
    "commit": COMMIT,
    "more": Text(en="More controls", zh="更多控件"),
    "guess_first": PREDICT_FIRST,
    "gone": Text(
        en="The kernel does not answer. What has been seen can still be shown; run the cell again for the rest.",
        zh="内核没有应答。看过的状态还能显示；要看其余的，请重新运行这个单元格。",
    ),
    "failed": Text(en="This state did not arrive whole. Move once more.", zh="这个状态没有传完整，请再移动一次。"),
    "nearest": Text(
        en="This page stores no such state; the nearest one is shown: {controls} moved along.",
        zh="这个页面没有存这个状态，显示的是最接近的一个：{controls}也跟着变了。",
    ),
    "picture": Text(en="picture, scrolls sideways", zh="图像，可以左右滚动"),
    "run": RUN_THE_CELL,
}
