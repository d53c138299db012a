"""Tools from elsewhere: imported from API documents and other MCP servers, and accepted when those change."""
