"""Administration: looking into a running gateway and changing what it does with messages."""
