import type { ApiDocument, Upstream } from './imports_query.ts'
import type { ImportsSearch } from './imports_search.ts'

/** Where tools come from: an MCP server or an API document. */
export type Source =
  | { kind: 'mcp'; key: string; name: string; address: string; upstream: Upstream }
  | { kind: 'openapi'; key: string; name: string; address: string; document: ApiDocument }

const KEY_SEPARATOR = '~'

/** Return the MCP servers, then the API documents, that match the filters. */
export function listSources(upstreams: Upstream[], documents: ApiDocument[], search: ImportsSearch): Source[] {
  const servers = upstreams.map(
    (upstream): Source => ({
      kind: 'mcp',
      key: upstream.id,
      name: upstream.name,
      address: upstream.server_url ?? (upstream.command ?? []).join(' '),
      upstream,
    }),
  )
  const apis = documents.map(
    (document): Source => ({
      kind: 'openapi',
      key: `${document.owner_id}${KEY_SEPARATOR}${document.tag}`,
      name: document.tag.replace(/^openapi:/, ''),
      address: document.servers.join(', '),
      document,
    }),
  )
  const wanted = search.q?.toLowerCase() ?? ''
  return [...servers, ...apis].filter(
    (source) =>
      (search.kind === undefined || source.kind === search.kind) &&
      `${source.name} ${source.address}`.toLowerCase().includes(wanted),
  )
}
