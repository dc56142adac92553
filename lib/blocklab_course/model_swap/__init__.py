"""Run a trained network with a learner's block in it, and show its output beside that with the right block.

The public function is `blocklab_course.plug_in`. Whether the block is right is for `check` to say.
"""
