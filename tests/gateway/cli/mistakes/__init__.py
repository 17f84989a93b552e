"""The mistakes of a first day: what is typed, and that it says what is wrong and what to do."""
