"""What builds an image to flash: a Debian root, the package in it, three partitions.

    packages -> base root (kept) -> + .deb, rootfs -> appliance -> FAT, ext4, ext4 -> .img.zst

Where the processor is another one, what packages do at their installation is emulated (binfmt_misc
with qemu-user-static); everything else here is files: no loop device, nothing mounted.
"""
