"""The ground floor: folders, arrays, tables, the engine, errors and progress."""
