"""Write the course as a static site, whose panels work without a kernel."""
