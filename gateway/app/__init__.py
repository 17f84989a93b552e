"""The application: all parts put together from the configuration, started and stopped."""
