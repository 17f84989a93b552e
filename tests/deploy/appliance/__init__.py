"""The image as a device would have it: its layout without a machine, its life in an emulated one."""
