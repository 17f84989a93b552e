"""What brings the gateway onto a device: packages, installers, images. No part of the product."""
