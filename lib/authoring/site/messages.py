"""The words of the pages themselves, in both languages."""

from blocklab_course.i18n import Text

OTHER = {"en": ("zh", "中文"), "zh": ("en", "English")}  # the other language, in its own words
LANG = {"en": "en", "zh": "zh-CN"}

# Every page
SKIP = Text(en="Skip to the text", zh="跳到正文")
SITE = Text(en="Site", zh="全站")
LESSONS = Text(en="Lessons", zh="课程")
GLOSSARY = Text(en="Glossary", zh="术语表")
CONTENTS = Text(en="On this page", zh="本页内容")
AROUND = Text(en="Previous and next", zh="上一课和下一课")
BEFORE = Text(en="Previous", zh="上一课")
AFTER = Text(en="Next", zh="下一课")
SIDE_TRIP = Text(en="Side trip", zh="选修")
LICENCE = Text(
    en="Texts and pictures: CC BY 4.0. Code: MIT.",
    zh="文字和图片：CC BY 4.0。代码：MIT。",
)
REPOSITORY = Text(en="The repository", zh="代码仓库")

# A lesson
NUMBER = Text(en="Lesson {number} of {last}", zh="第 {number} 课，共 {last} 课")
MINUTES = Text(en="about {minutes} minutes", zh="大约 {minutes} 分钟")
HANDOUT = Text(en="Handout to print", zh="打印用的讲义")
IN_COLAB = Text(en="Open in Colab", zh="在 Colab 中打开")
IMPORTS = Text(en="Imports", zh="导入")
THE_CELL = Text(en="Code of this cell", zh="单元格里的代码")
EXERCISE = Text(en="Exercise", zh="练习")
SOLUTION = Text(en="A solution", zh="参考答案")
ANSWER = Text(en="Answer", zh="答案")
SHOW = Text(en="Show the output", zh="看运行结果")
WRITE = Text(en="Write it and have it checked: {ways}", zh="自己写，写完当场检查：{ways}")
WRITE_IN_COLAB = Text(en="in Colab", zh="在 Colab 里写")
WRITE_HERE = Text(
    en="on your machine with <code>make lab</code>, in lesson {number}",
    zh="在自己的机器上用 <code>make lab READ=zh</code> 打开第 {number} 课",
)
OR = Text(en=", or ", zh="，或者")
CODE = Text(en="code", zh="代码")
OUTPUT = Text(en="output", zh="输出")
FORMULA = Text(en="formula", zh="公式")
TABLE = Text(en="table", zh="表格")
PICTURE = Text(en="picture", zh="图")
UNSCRIPTED = Text(
    en="JavaScript is off, or the page's script failed to load: figures do not move, and search is unavailable.",
    zh="浏览器没有启用 JavaScript，或者网页的脚本没有载入完整，所以图不能动，也不能搜索。",
)
READ = Text(en="I have read this lesson", zh="这一课我读完了")

# The start page; `write_along_text` and the texts of FEATURES are Markdown
HOME = {
    "title": Text(en="Build a chat model by hand", zh="亲手搭一个聊天模型"),
    "lead": Text(
        en="Write the four functions inside a chat model, and hear it answer with them.",
        zh="聊天模型里的四个函数，由你亲手写出来，再听它用你的代码回答。",
    ),
    "begin": Text(en="Start lesson 00 · {minutes} min", zh="开始第 00 课 · {minutes} 分钟"),
    "play": Text(en="Play first", zh="先玩一玩"),
    "size": Text(
        en="Nothing to install · English and 中文 · {lessons} lessons, about {hours} hours · free",
        zh="不用安装 · 中文和英文 · 共 {lessons} 课，大约 {hours} 小时 · 免费",
    ),
    "break": Text(en="Break it: one thing wrong, in all 30 layers", zh="弄坏它：30 层里，每层都错同一处"),
    "tap": Text(en="tap a tile", zh="点一格试试"),
    "loss": Text(en="Loss on “The Zen of Python”: {loss}", zh="读《Python 之禅》时的损失：{loss}"),
    "right_loss": Text(en=", where {loss} is right", zh="（正确时是 {loss}）"),
    "unheard": Text(
        en="The same answer: you only notice from the loss.",
        zh="回答一样，看损失才知道错了。",
    ),
    "unseen": Text(
        en="The same answer and the same loss: only a test on small inputs notices. Lesson 05 finds it.",
        zh="回答一样，损失也一样，要用很小的输入来测才看得出来。第 05 课会找到它。",
    ),
    "recorded": Text(
        en="Recorded from SmolLM2, 135 million numbers. Not one of them has changed.",
        zh="以上是 SmolLM2 的真实回答，事先录好。它的 135 M 个参数一个也没有改。"
        "它只懂英语，上面问的是：法国的首都是哪里？",
    ),
    "features": Text(en="What the lessons offer", zh="课程的特点"),
    "toys": Text(en="Three to play with", zh="先玩三张图"),
    "toys_lead": Text(
        en="In the lessons you guess before you drag. Here you can drag right away.",
        zh="在课里要先猜再拖；在这里，可以直接动手。",
    ),
    "answer": Text(en="Show the answer", zh="看答案"),
    "from_lesson": Text(en="From lesson {lesson}", zh="选自：{lesson}"),
    "map": Text(en="What you will build", zh="你要搭的模型"),
    "map_lead": Text(
        en="One of the model's 30 layers, from the bottom up. The numbers are lessons; click one.",
        zh="模型有 30 层，这是其中一层，请从下往上看。旁边的数字是课的编号，点一下就能打开那一课。",
    ),
    "lessons": Text(en="The lessons", zh="全部课程"),
    "write_along": Text(en="Write along", zh="动手写"),
    "write_along_text": Text(
        en="On these pages you can read, guess and play with every figure. There is nothing to install, and nothing "
        "leaves your browser. The exercises are in the notebooks, where your function is checked and then runs in a "
        "trained model:\n\n"
        "```\nmake lab{read}\n```\n\n"
        "installs everything into the project folder and opens JupyterLab. You should have trained a network before "
        "and know what a loss and a gradient are. The [glossary](glossary.ipynb) has every term in both languages. "
        "If you learned these things from notes on the web, an appendix checks "
        "[five of them claim by claim](five_notes.ipynb).",
        zh="在这些网页上，可以读，可以猜，每张图都能动手；什么都不用安装，数据也不会离开你的浏览器。"
        "练习要在笔记本里做：写好函数，当场就能检查，还会放进训练好的模型里运行。打开笔记本，只要一条命令：\n\n"
        "```\nmake lab{read}\n```\n\n"
        "它把所需的软件装进项目自己的文件夹，然后打开 JupyterLab。"
        "开始之前，你应当训练过一次网络，知道什么是损失和梯度。术语都在[术语表](glossary.ipynb)里，中英文对照。"
        "如果你以前是跟着网上的笔记学的，附录里有[五篇笔记的逐条核对](five_notes.ipynb)。",
    ),
}

# The features: title and text, as in the READMEs
FEATURES = (
    (
        Text(en="Guess, then drag", zh="先猜，再拖"),
        Text(
            en="{figures} figures. Drag with mouse, finger or keyboard, and they answer at once. Many ask for your "
            "guess first.",
            zh="{figures} 幅图，用鼠标、手指或键盘一拖，马上就变；许多图要你先猜一猜。",
        ),
    ),
    (
        Text(en="It names your mistake", zh="说得出你错在哪里"),
        Text(
            en="✗ *This is InstanceNorm: one mean per sample and channel. BatchNorm averages over the batch, too.*\n\n"
            "{exercises} exercises know their usual mistakes.",
            zh="✗ *这是实例归一化：每个样本的每个通道各有一个均值。批量归一化还要把所有样本合在一起算。*\n\n"
            "{exercises} 个练习，常见的错误都认得出来。",
        ),
    ),
    (
        Text(en="Your code, in a real model", zh="你的代码，真的模型"),
        Text(
            en="What passes runs in SmolLM2, a chat model with 135 million parameters. Forget one multiplication, and "
            "the capital of France is `,,,,,,,,`.",
            zh="通过的函数会放进 SmolLM2，一个有 135 M 个参数的聊天模型。漏掉一个乘法，法国的首都就成了 `,,,,,,,,`。",
        ),
    ),
)

# What site.js says; every page brings these along
SCRIPT = {
    "theme": Text(en="Light or dark: {now}", zh="浅色或深色：{now}"),
    "auto": Text(en="as the system", zh="跟随系统"),
    "light": Text(en="light", zh="浅色"),
    "dark": Text(en="dark", zh="深色"),
    "copy": Text(en="Copy", zh="复制"),
    "copied": Text(en="Copied", zh="已复制"),
    "search": Text(en="Search", zh="搜索"),
    "results": Text(en="{n} found", zh="找到 {n} 处"),
    "nothing": Text(en="Nothing found for “{asked}”.", zh="没有找到“{asked}”。"),
    "elsewhere": Text(en="On the Chinese pages: {n} found", zh="英文页面里找到 {n} 处"),
    "trouble": Text(
        en="The data of this panel could not be loaded, so it stays a picture.",
        zh="这个面板的数据没能载入，所以只显示最初的图，不能操作。",
    ),
    "edition": Text(
        en="The data of this panel belongs to another version of the site. Reload the page.",
        zh="这个面板的数据属于网站的另一个版本，请刷新页面。",
    ),
    "unsearchable": Text(en="The search index could not be loaded.", zh="搜索索引没能载入。"),
    "done": Text(en="read", zh="已读"),
    "go_on": Text(en="Continue: {lesson}", zh="接着读：{lesson}"),
    "progress": Text(
        en="{read} of {last} lessons read, {made} predictions made, {right} of them right",
        zh="读完 {read} 课（共 {last} 课），猜了 {made} 次，猜对 {right} 次",
    ),
    "kept": Text(en="Stored only in this browser.", zh="只保存在这个浏览器里。"),
    "unkept": Text(
        en="This browser does not let the page store data: your progress is lost when you leave.",
        zh="这个浏览器不让网页保存数据：离开网页以后，你在这里的进度就没有了。",
    ),
    "forget": Text(en="Clear", zh="清除"),
}
