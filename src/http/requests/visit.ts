import type { AppContext } from '../env.ts'
import { readNetworkPrefix } from '../middleware/rate-limit.ts'

const maxAgentLength = 200

/** Reads what is stored of a person's request: its id, and as evidence the user agent and a prefix of the IP address. */
export function readVisit(c: AppContext): { request_id: string; evidence: Record<string, string> } {
  const ip_prefix = readNetworkPrefix(c)
  const agent = c.req.header('user-agent')
  return {
    request_id: c.var.requestId,
    evidence: { ...(ip_prefix && { ip_prefix }), ...(agent && { user_agent: agent.slice(0, maxAgentLength) }) },
  }
}
