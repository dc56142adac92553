"""The lesson your_model: the chat model made of the learner's own blocks."""
