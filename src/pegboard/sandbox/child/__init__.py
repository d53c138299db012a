"""Code of the zygote, supervisor, template and confined processes; it uses the standard library only."""
