import torch

from blocklab_course.lessons.positional_encoding import output


def test_the_lines_hold_what_they_are_given(capsys):
    output.change_of_bites(torch.tensor(0.0), torch.tensor(0.1234))
    output.strongest(3, torch.tensor([0.75, 0.25]), torch.tensor([0.4, 0.6]))
    assert capsys.readouterr().out.splitlines() == [
        "largest change of bites: without the rows 0.00, with them 0.12",
        "row  3: most weight on row  0, 75%; divided by √d first, 60% on row 1",
    ]
