"""All exercises, by name: one module per topic."""

from ..surroundings import settled

with settled():  # the numbers of the tables are float32 on the CPU, whatever a lesson has set
    from . import (
        activations,
        answers,
        attention,
        batch_norm,
        batch_statistics,
        group_norm,
        layer_norm,
        layer_norm_backward,
        layers,
        moving_average,
        positional_encoding,
        rms_norm,
        rotary_embedding,
        standardize,
        swiglu,
        time_function,
        turn,
        two_kernels,
        width,
    )

TOPICS = (
    answers,
    standardize,
    batch_norm,
    moving_average,
    batch_statistics,
    layer_norm,
    layer_norm_backward,
    group_norm,
    rms_norm,
    turn,
    positional_encoding,
    rotary_embedding,
    activations,
    swiglu,
    width,
    attention,
    layers,
    time_function,
    two_kernels,
)
EXERCISES = {exercise.name: exercise for topic in TOPICS for exercise in topic.EXERCISES}
