"""The web console: serves the built pages. They use the REST API and nothing else."""
