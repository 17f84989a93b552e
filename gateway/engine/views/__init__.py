"""What subscriptions are about: the asserted view, and what follows from it as well."""
