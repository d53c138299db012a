"""How programs connect to a board: the configurations of MCP clients, and loops with the SDKs of providers."""
