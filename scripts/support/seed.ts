import type { Client } from './client.ts'
import { startCampaign, visitCampaign, waitForVisits } from './seed-campaign.ts'
import { buildExternalOrders } from './seed-orders.ts'
import { dayMs, type Make, rowsPath } from './seed-rows.ts'
import { calculateExampleSegments, makeAudienceSegment, makeExampleSegments } from './seed-segments.ts'

interface DemoToken {
  role: string
  name: string
  token: string
}

/** The ids that seeding has created, by step. A later start reads it, and an interrupted seeding continues from it. */
export interface DemoState {
  /** Milliseconds UTC. The dates of the demonstration data are relative to it. */
  seeded_at: number
  made: Record<string, string>
  tokens: DemoToken[]
  is_complete: boolean
}

const companies = [
  {
    key: 'nordlys',
    organization: 'Nordlys Events',
    event: 'Nordlys Festival',
    country: { timezone: 'Europe/Copenhagen', default_country_code: '+45', default_language: 'da' },
    enabled_languages: ['en', 'da', 'se', 'nl', 'pl'],
    currency: 'dkk',
  },
  {
    key: 'kanal',
    organization: 'Kanaal Producties',
    event: 'Kanaal Weekend',
    country: { timezone: 'Europe/Amsterdam', default_country_code: '+31', default_language: 'nl' },
    enabled_languages: ['en', 'nl'],
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

/** The first days of the editions, relative to the seeding: one has ended, one is running, one comes later. */
const starts = { past: -364, current: -1, upcoming: 182 } as const

const seasons = [
  'Winter',
  'Winter',
  'Spring',
  'Spring',
  'Spring',
  'Summer',
  'Summer',
  'Summer',
  'Autumn',
  'Autumn',
  'Autumn',
  'Winter',
]

/** Names an edition by the season in which it begins. */
function nameSeason(at: string): string {
  const date = new Date(at)
  return `${seasons[date.getUTCMonth()] ?? 'Winter'} ${date.getUTCFullYear()}`
}

type Company = (typeof companies)[number]
type Dates = (days: number) => string

interface CompanyParts {
  organization_id: string
  editions: Record<keyof typeof starts, string>
}

async function makeEditions(make: Make, company: Company, at: Dates): Promise<CompanyParts> {
  const { key, country, enabled_languages } = company
  const organization_id = await make(key, '/v1/organizations', { name: company.organization })
  const event_id = await make(`${key}.event`, '/v1/events', { organization_id, name: company.event })
  const edition = (which: keyof typeof starts) =>
    make(`${key}.${which}`, '/v1/editions', {
      organization_id,
      event_id,
      name: nameSeason(at(starts[which])),
      start_date: at(starts[which]),
      end_date: at(starts[which] + 3),
      enabled_languages,
      tax_type: 'vat',
      ...country,
    })
  const editions = {
    past: await edition('past'),
    upcoming: await edition('upcoming'),
    current: await edition('current'),
  }
  return { organization_id, editions }
}

async function makePeople(make: Make, state: DemoState, key: string, parts: CompanyParts): Promise<void> {
  for (const { code, role, first_name, last_name, ofEdition } of people) {
    const name = `${first_name} ${last_name}`
    const email = `${code}@${key}.example`.toLowerCase()
    const edition_id = ofEdition ? parts.editions.current : null
    const membership = { email, first_name, last_name, role, edition_id }
    const member_id = await make(`${key}.${code}`, `/v1/organizations/${parts.organization_id}/members`, membership)
    if (key !== companies[0].key) continue
    const request = { name: 'Demonstration', member_id, expires_at: null }
    const token = await make(`${key}.${code}.token`, '/v1/auth/tokens', request)
    if (!state.tokens.some((entry) => entry.role === code)) state.tokens.push({ role: code, name, token })
  }
}

async function makeOrders(make: Make, { key, currency }: Company, parts: CompanyParts, at: Dates): Promise<void> {
  for (const [index, which] of (['past', 'current'] as const).entries()) {
    const orders = buildExternalOrders({
      prefix: `${key}-${index}`,
      firstCustomer: 1 + 10 * index,
      domain: `${key}.example`,
      until: starts[which] - 1,
      count: ordersPerEdition,
      currency,
      at,
    })
    const { organization_id, editions } = parts
    const imported = { organization_id, edition_id: editions[which], source: 'demonstration', orders }
    await make(`${key}.orders.${index}`, '/v1/data-imports/external-orders', imported)
  }
}

/** Creates consents, visits, deliveries, segments, and a campaign that was sent and opened. */
async function makeAudience(root: Client, make: Make, state: DemoState, parts: CompanyParts): Promise<void> {
  const { organization_id, editions } = parts
  const tenant = { organization_id, edition_id: editions.current }
  await root.patch(`/v1/editions/${editions.current}`, { is_draft: false }, `seed-${state.seeded_at}-publish`)
  const endpoint_id = await make('webhook', '/v1/webhooks', {
    ...tenant,
    name: 'Warehouse',
    url: 'https://hooks.nordlys.example/orders',
    events: ['purchase.action'],
  })
  await make('rows', rowsPath, { ...tenant, endpoint_id, seeded_at: state.seeded_at })
  const segment_id = await makeAudienceSegment(make, tenant)
  await visitCampaign(root, await startCampaign(root, make, { ...tenant, segment_id }))
  await makeExampleSegments(make, tenant, [editions.past, editions.current])
  await waitForVisits(root, organization_id)
  await calculateExampleSegments(make, state.made)
}

/** Creates two organisations through the API. The first has every kind of data. `save` is called after every step. */
export async function seed(root: Client, state: DemoState, save: () => Promise<void>): Promise<void> {
  let saving = Promise.resolve()
  const make: Make = async (step, path, body) => {
    const storedValue = state.made[step]
    if (storedValue !== undefined) return storedValue
    const resource = await root.post<{ id: string; token?: string; failed_orders?: number }>(
      path,
      body,
      `seed-${state.seeded_at}-${step}`,
    )
    if (resource.failed_orders) throw new Error(`${resource.failed_orders} orders of ${step} were refused.`)
    const idOrToken = resource.token ?? resource.id
    state.made[step] = idOrToken
    await (saving = saving.then(save))
    return idOrToken
  }
  const at: Dates = (days) => new Date(state.seeded_at + days * dayMs).toISOString()
  // The campaign takes some seconds to be sent, so everything else is created meanwhile.
  const makeCompany = async (company: Company) => {
    const parts = await makeEditions(make, company, at)
    await makeOrders(make, company, parts, at)
    const audience = company === companies[0] ? makeAudience(root, make, state, parts) : undefined
    await Promise.all([audience, makePeople(make, state, company.key, parts)])
  }
  await Promise.all(companies.map(makeCompany))
  state.is_complete = true
  await save()
}

/** Lists the variables that the commands of README.md and docs use. */
export function demoVariables({ made, tokens }: DemoState): [name: string, value: string][] {
  const named: [string, string | undefined][] = [
    ['TOKEN', tokens[0]?.token],
    ['ORG', made[companies[0].key]],
    ['EDITION', made[`${companies[0].key}.current`]],
    ['MESSAGE', made['message']],
    ['SEGMENT', made['segment.0']],
    ['CAMPAIGN', made['campaign']],
    ['WEBHOOK', made['webhook']],
  ]
  return named.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]))
}
