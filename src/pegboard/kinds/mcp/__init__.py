"""mcp tools: sessions with other MCP servers, and calls of their tools."""
