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

# The start page; `write_along_text` is Markdown
HOME = {
    "title": Text(en="Build a chat model by hand", zh="亲手搭一个聊天模型"),
    "lead": Text(
        en="Apart from matrices and sums, a chat model is four functions of a few lines each. In these lessons you "
        "write all four. First guess, then drag a slider and watch the block react, then write it yourself: a check "
        "tells you which mistake you made. In the end, a chat model answers you with your code inside.",
        zh="除了矩阵的乘法和加法，聊天模型里只有四个函数，每个不过几行。在这套课程里，四个函数都由你来写：先猜一猜，"
        "再拖动滑块，马上看到它怎样变化，然后亲手写出来；写错了，当场就知道错在哪里。到最后，模型会用你写的代码回答你。",
    ),
    "begin": Text(en="Begin", zh="开始"),
    "play": Text(en="Play first", zh="先玩一玩"),
    "model": Text(
        en="SmolLM2, 135 million numbers, on your machine",
        zh="SmolLM2，一亿三千五百万（135 M）个参数，就在你的机器上",
    ),
    "in_english": Text(en="It speaks English only.", zh="它只懂英语。上面问的是：请补全句子“法国的首都是……”。"),
    "broken_model": Text(
        en="The same model, one multiplication left out of RMSNorm", zh="还是这个模型，RMSNorm 里漏了一个乘法"
    ),
    "panels": Text(en="Three to play with", zh="先玩三张图"),
    "panels_lead": Text(
        en="Every lesson has figures that you can change. Guess first, then drag.",
        zh="每一课都有可以动手的图：先猜，再拖。",
    ),
    "from_lesson": Text(en="From lesson {lesson}", zh="选自第 {lesson} 课"),
    "map": Text(en="What you will build", zh="你要搭的模型"),
    "map_lead": Text(
        en="One of the model's 30 layers, from the bottom up. The numbers are lessons; click one.",
        zh="模型有 30 层，这是其中一层，请从下往上看。旁边的数字是课的编号，点一下就能打开那一课。",
    ),
    "lessons": Text(en="The lessons", zh="全部课程"),
    "lessons_lead": Text(
        en="About eight hours in all. Next to each title is what you write in that lesson.",
        zh="全部学完大约八个小时。标题旁边写的，是这一课里由你来写的内容。",
    ),
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
