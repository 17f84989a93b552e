"""The image as a device has it: its layout without a machine, its life in an emulated one."""
