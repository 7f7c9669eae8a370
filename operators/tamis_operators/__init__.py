"""The bundled operators: each domain is a plugin of its own, brought in as anybody's."""
