"""The engine that names the mistake, the form of an exercise and its known mistakes, and what the tables share.

An exercise is compared with the reference on inputs chosen to tell mistakes apart. What differs is then compared with
every known wrong variant of the exercise's table, alone and up to three at a time. Which exercises there are, the
lessons know.
"""
