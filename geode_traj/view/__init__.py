"""What people look at: screens and pages, made of values; nothing here reads a terminal or prints."""
