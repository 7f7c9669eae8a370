"""The test kit, tried on what it is for."""
