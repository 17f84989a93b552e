"""What came before a window was opened: at once, or bit by bit."""
