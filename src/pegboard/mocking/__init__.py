"""Former import paths; they warn and go with the next minor version."""
