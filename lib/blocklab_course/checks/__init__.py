"""Compare a submission with a reference and name the mistake.

The engine runs the submission on inputs chosen to tell mistakes apart. Where a result differs, it is compared with what
the known mistakes of the exercise give, alone and up to three at once. The lessons define the exercises.
"""
