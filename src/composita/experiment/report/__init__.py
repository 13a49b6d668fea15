"""The report of an experiment: pictures as SVG, and one page that needs nothing else."""
