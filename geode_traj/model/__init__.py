"""Values that pass between rooms: frozen, slotted, no I/O."""
