import { type RawSearch, readText } from '../../shared/query/search_values.ts'

/** The way to connect, the agent and the tool of the examples, as the address has them. */
export interface ConnectSearch {
  /** The name of a client, a framework, an SDK or a kind of request; `curl` without it. */
  way?: string
  /** `stdio` if the client starts a command. */
  over?: 'stdio'
  agent?: string
  tool?: string
}

/** Return what an address says; what it cannot say is left out. */
export function readConnectSearch(search: RawSearch): ConnectSearch {
  return {
    way: readText(search, 'way'),
    over: readText(search, 'over') === 'stdio' ? 'stdio' : undefined,
    agent: readText(search, 'agent'),
    tool: readText(search, 'tool'),
  }
}
