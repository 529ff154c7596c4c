"""The rule rows, one module a family; every `Rule` in a module's `RULES` counts."""
