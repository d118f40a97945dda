import { ApiError } from '@event-commerce/client'
import { api } from '../../api'
import type { Ticket } from './judgement'
import type { Scan } from './scan-store'

/** The tickets for a text: the one with this code, or what else the text may mean. */
export interface Matches {
  /** The tickets whose whole code it is; in an edition mostly one. */
  exact: readonly { id: string }[]
  /** Tickets whose code begins so, whose order has this number, or whose holder has this name. Nobody is let in by these alone. */
  similar: readonly Ticket[]
}

const maxSimilar = 10
const maxHolders = 5

async function loadTicket(id: string, signal: AbortSignal): Promise<Ticket> {
  const { data } = await api.GET('/v1/purchases/{id}', { params: { path: { id } }, signal })
  return data
}

async function findSimilar(edition: string, text: string, signal: AbortSignal): Promise<{ id: string }[]> {
  const list = async (query: { search: string } | { user_id: string }) => {
    const params = { query: { edition_id: edition, page_size: maxSimilar, ...query } }
    return (await api.GET('/v1/purchases', { params, signal })).data.results
  }
  const tickets = await list({ search: text })
  if (tickets.length > 0) return tickets
  const people = await api.GET('/v1/user', { params: { query: { edition_id: edition, search: text } }, signal })
  const holders = people.data.results.slice(0, maxHolders)
  return (await Promise.all(holders.map(({ id }) => list({ user_id: id })))).flat()
}

/** Looks for the tickets of a scanned code, or of what somebody typed. */
export async function findTickets(edition: string, text: string, signal: AbortSignal): Promise<Matches> {
  const query = { edition_id: edition, vendor_code: text, page_size: maxSimilar }
  const { results: exact } = (await api.GET('/v1/purchases', { params: { query }, signal })).data
  if (exact.length > 0) return { exact, similar: [] }
  const others = await findSimilar(edition, text, signal)
  const similar = await Promise.all(others.slice(0, maxSimilar).map(({ id }) => loadTicket(id, signal)))
  return { exact, similar }
}

export { loadTicket }

/** True if nobody knows whether the call did its work: no answer came, or the service failed in the middle. */
export const isUnanswered = (error: unknown): boolean => !(error instanceof ApiError) || error.status >= 500

/** Sends the use of a scanned ticket. The key makes a repetition answer what the first call answered. */
export async function sendUse({ id, ticket, location }: Scan): Promise<{ use: string; usedAt: string }> {
  const params = { path: { id: ticket?.id ?? '' } }
  const body = { quantity: 1, location_id: location }
  const { data } = await api.POST('/v1/purchases/{id}/uses', { params, body, headers: { 'Idempotency-Key': id } })
  return { use: data.id, usedAt: data.used_at }
}
