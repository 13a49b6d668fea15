"""The command line: a thin shell over functions that return data."""
