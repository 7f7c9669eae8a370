"""The bundled operators, by domain."""
