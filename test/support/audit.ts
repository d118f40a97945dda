import { env } from 'cloudflare:workers'

export interface StoredEntry {
  organization_id: string
  id: string
  edition_id: string | null
  action: string
  actor_id: string
  token_id: string | null
  resource_type: string | null
  resource_id: string | null
  changes: string
  request_id: string
  created_at: number
}

/** Lists the audit entries of a request, by the request id of its answer. */
export const listEntries = async (reply: { headers: Headers }): Promise<StoredEntry[]> =>
  (
    await env.DB.prepare('select * from audit_log where request_id = ?')
      .bind(reply.headers.get('x-request-id'))
      .all<StoredEntry>()
  ).results

export const countEntries = async (): Promise<number> =>
  (await env.DB.prepare('select count(*) as n from audit_log').first<{ n: number }>())?.n ?? -1
