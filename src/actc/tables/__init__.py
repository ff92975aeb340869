"""What is on disk: read, and written complete or not at all."""
