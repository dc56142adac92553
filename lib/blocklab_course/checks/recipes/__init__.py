"""Inputs, recipe steps and known mistakes that the exercises of several lessons share."""
