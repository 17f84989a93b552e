"""Quads that come and go as one, made when somebody asks for them."""
