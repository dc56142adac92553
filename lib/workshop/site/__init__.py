"""The lessons as a site of static pages, whose panels play without a kernel."""
