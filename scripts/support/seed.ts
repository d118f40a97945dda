import type { Client } from './client.ts'
import { externalOrders } from './seed-orders.ts'

export interface DemoToken {
  role: string
  name: string
  token: string
}

/** What seeding has made, by step: a second start reads it, an interrupted seeding goes on from it. */
export interface DemoState {
  /** Milliseconds UTC; dates of the demonstration data stand around it. */
  seeded_at: number
  made: Record<string, string>
  tokens: DemoToken[]
  is_complete: boolean
}

const dayMs = 86_400_000

const companies = [
  {
    key: 'nordlys',
    organization: 'Nordlys Events',
    event: 'Nordlys Festival',
    country: { timezone: 'Europe/Copenhagen', default_country_code: '+45', default_language: 'da' },
    currency: 'dkk',
  },
  {
    key: 'kanal',
    organization: 'Kanaal Producties',
    event: 'Kanaal Weekend',
    country: { timezone: 'Europe/Amsterdam', default_country_code: '+31', default_language: 'nl' },
    currency: 'eur',
  },
] as const

const people = [
  { code: 'OA', role: 'admin', first_name: 'Ingrid', last_name: 'Holm', ofEdition: false },
  { code: 'OM', role: 'manager', first_name: 'Mikkel', last_name: 'Bruun', ofEdition: false },
  { code: 'OV', role: 'viewer', first_name: 'Ægir', last_name: 'Lund', ofEdition: false },
  { code: 'EA', role: 'admin', first_name: 'Sofie', last_name: 'Friis', ofEdition: true },
  { code: 'EM', role: 'manager', first_name: 'Jonas', last_name: 'Kjær', ofEdition: true },
  { code: 'EV', role: 'viewer', first_name: 'Nora', last_name: 'Østergaard', ofEdition: true },
] as const

const ordersPerEdition = 30

/** Two organisations with people, editions and orders, made through the API. `save` is called after every step. */
export async function seed(root: Client, state: DemoState, save: () => Promise<void>): Promise<void> {
  /** The id of what the step makes, or its token. */
  async function make(step: string, path: string, body: unknown): Promise<string> {
    const known = state.made[step]
    if (known !== undefined) return known
    const answer = await root.post<{ id: string; token?: string; failed_orders?: number }>(
      path,
      body,
      `seed-${state.seeded_at}-${step}`,
    )
    if (answer.failed_orders) throw new Error(`${answer.failed_orders} orders of ${step} were refused.`)
    state.made[step] = answer.token ?? answer.id
    await save()
    return state.made[step]
  }
  const at = (days: number) => new Date(state.seeded_at + days * dayMs).toISOString()

  for (const { key, organization, event, country, currency } of companies) {
    const organization_id = await make(key, '/v1/organizations', { name: organization })
    const event_id = await make(`${key}.event`, '/v1/events', { organization_id, name: event })
    const edition = (name: string, from: number) =>
      make(`${key}.${name}`, '/v1/editions', {
        organization_id,
        event_id,
        name: `${name} edition`,
        start_date: at(from),
        end_date: at(from + 3),
        enabled_languages: ['en', country.default_language],
        tax_type: 'vat',
        ...country,
      })
    const editions = [await edition('Summer', 60), await edition('Winter', -150)]
    for (const { code, role, first_name, last_name, ofEdition } of people) {
      const name = `${first_name} ${last_name}`
      const email = `${code}@${key}.example`.toLowerCase()
      const edition_id = ofEdition ? editions[0] : null
      const membership = { email, first_name, last_name, role, edition_id }
      const member_id = await make(`${key}.${code}`, `/v1/organizations/${organization_id}/members`, membership)
      const request = { name: 'Demonstration', member_id, expires_at: null }
      const token = await make(`${key}.${code}.token`, '/v1/auth/tokens', request)
      if (key === companies[0].key && !state.tokens.some((known) => known.role === code))
        state.tokens.push({ role: code, name, token })
    }
    for (const [index, edition_id] of editions.entries()) {
      const orders = externalOrders({ prefix: `${key}-${index}`, count: ordersPerEdition, currency, at })
      const imported = { organization_id, edition_id, source: 'demonstration', orders }
      await make(`${key}.orders.${index}`, '/v1/data-imports/external-orders', imported)
    }
  }
  state.is_complete = true
  await save()
}
