"""Grammar: rules, types and meanings, from a sentence to what its functions are applied to."""
