"""What clients of this gateway ask of several, answered on what is known of each."""
