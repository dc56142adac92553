"""What a learner wrote, at work inside a trained network, beside what the network says with the right block.

`blocklab_course.plug_in` is the way in. Nothing is judged here: that is what `check` is for.
"""
