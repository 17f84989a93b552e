"""Where the store lives: its folder, one transaction, and a disk that refused one."""
