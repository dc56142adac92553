"""Every built lesson in JupyterLab: it runs without errors, and every slider answers the keyboard.

Every second lesson is in Chinese. `make test` opens every fifth lesson; the others, and some complete copies, are
exhaustive.
"""

import pytest

from authoring import jupyter_lab
from authoring.lesson_panels import SOURCES
from blocklab_course.i18n import LANGUAGES

PANELS = [f"{LANGUAGES[number % 2]}/{source.stem}.ipynb" for number, source in enumerate(SOURCES)]
WHOLE = ["whole/zh/00_start_here.ipynb", "whole/en/02_norm_axes.ipynb", "whole/zh/02_norm_axes.ipynb"]
IN_MAKE_TEST = PANELS[::5]
OTHERS = [pytest.param(lesson, marks=pytest.mark.exhaustive) for lesson in PANELS + WHOLE if lesson not in IN_MAKE_TEST]


@pytest.mark.parametrize("lesson", IN_MAKE_TEST + OTHERS)
def test_lesson_runs_and_every_slider_moves_its_picture(page, address, lesson):
    jupyter_lab.open_notebook(page, address, lesson)
    jupyter_lab.run_all(page)
    assert jupyter_lab.list_errors(page) == []
    jupyter_lab.wait_for_panels(page)
    jupyter_lab.skip_predictions(page)
    for slider in jupyter_lab.find_sliders(page).all():
        before = jupyter_lab.read_panel(slider)
        jupyter_lab.press_arrow(slider)
        jupyter_lab.wait_for_change(page, slider, before)
    assert jupyter_lab.list_errors(page) == []


def test_the_link_at_the_top_leads_to_the_other_language(page, address):
    jupyter_lab.open_notebook(page, address, "whole/en/02_norm_axes.ipynb")
    page.get_by_role("link", name="简体中文").first.click()
    jupyter_lab.wait_until(
        page, "() => window.jupyterapp.shell.currentWidget?.context?.path === 'whole/zh/02_norm_axes.ipynb'"
    )


def test_map_links_to_lessons(page, address):
    jupyter_lab.open_notebook(page, address, "zh/00_start_here.ipynb")
    jupyter_lab.run_all(page)
    number, part = page.locator("[role=main] a[title='05']").all()[0], page.locator("[role=main] a[title='04']").last
    for link in (number, part):
        box, picture = link.bounding_box(), link.locator("xpath=../img").bounding_box()
        assert picture["x"] < box["x"] < box["x"] + box["width"] < picture["x"] + picture["width"]
        assert picture["y"] < box["y"] < box["y"] + box["height"] < picture["y"] + picture["height"]
    number.click()
    jupyter_lab.wait_until(
        page, "() => window.jupyterapp.shell.currentWidget?.context?.path === 'zh/05_layer_norm.ipynb'"
    )
