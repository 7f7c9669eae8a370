"""The bundled planners: what they call, and how far from the best that is."""
