"""The board's tools over the Model Context Protocol, for HTTP and stdio."""
