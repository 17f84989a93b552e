"""SEP-BM: LUBM's universities, 20 channels, 300 publications, and who answers them how fast."""
