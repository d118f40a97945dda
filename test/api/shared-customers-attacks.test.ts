import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, type Reply } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { write } from '../support/seeding/rows.ts'
import { anOrder, importOrders } from '../support/seeding/sales/orders.ts'
import { calculate } from '../support/segments.ts'
import { givenTwo, loadCustomer, type TwoEditions } from '../support/shared-customers.ts'

const secret = {
  first_name: 'Zmarker',
  last_name: 'Zsurname',
  phone_number: '+4560708090',
  metadata: { note: 'zmetadata' },
}
const emails = ['anna@example.dk', 'bo@example.dk', 'carl@example.dk']

let two: TwoEditions
let segment: string
let people: string[]

/** Requests of a viewer of one edition, with searches for what another edition learns later. */
const buildPaths = (): string[] => {
  const { edition_id, organization_id } = two.mine
  const orderings = ['email', '-email', 'phone_number', '-phone_number', 'date_joined', 'last_seen,-phone_number']
  const searches = ['zmarker', 'zsurname', '60708090', '+45 60 70 80 90', 'zhidden@', 'zm', '60', 'anna', 'example']
  const order = `/v1/orders?edition_id=${edition_id}`
  return [
    '/v1/user',
    `/v1/user?edition_id=${edition_id}`,
    `/v1/user?organization_id=${organization_id}`,
    ...orderings.map((ordering) => `/v1/user?ordering=${ordering}`),
    ...searches.map((search) => `/v1/user?search=${encodeURIComponent(search)}`),
    ...people.map((id) => `/v1/user/${id}`),
    ...searches.map((search) => `${order}&search=${encodeURIComponent(search)}`),
    `${order}&customer_email=zhidden`,
    `${order}&customer_phone=60708090`,
    ...people.map((id) => `/v1/orders?customer_id=${id}`),
    `/v1/purchases?edition_id=${edition_id}`,
    `/v1/refund-requests?edition_id=${edition_id}`,
    `/v1/refund-requests?edition_id=${edition_id}&search=zhidden`,
    ...people.map((id) => `/v1/user/${id}/consents`),
    `/v1/segments/cel-context?edition_id=${edition_id}`,
  ]
}

const expressions = [
  'user.first_name == "Zmarker"',
  'user.has_phone',
  'user.phone_number.startsWith("+4560")',
  'user.is_verified',
  'user.last_seen != null',
  'has(user.metadata.note)',
  'user.email.contains("zhidden")',
  'user.locale == "pl"',
  'user.date_joined > timestamp("2020-01-01T00:00:00Z")',
  'stats.order_count > 1',
]

interface Observation {
  status: number
  text: string
  etag: string | null
  queries: number
  rows_read: number
}

const observe = (reply: Reply): Observation => {
  const { queries, rows_read } = readCost(reply)
  return { status: reply.status, text: reply.text, etag: reply.headers.get('etag'), queries, rows_read }
}

async function observeAll(): Promise<Record<string, Observation>> {
  const observations: Record<string, Observation> = {}
  for (const path of buildPaths()) observations[path] = observe(await get(path, two.viewer))
  for (const expression of expressions) {
    const body = { organization_id: two.mine.organization_id, edition_id: two.mine.edition_id, expression }
    observations[expression] = observe(await post('/v1/segments/validate-cel', body, two.viewer))
  }
  return observations
}

async function exportMembers(): Promise<string> {
  await calculate(segment)
  return (await get(`/v1/segments/${segment}/export`, two.manager)).text
}

/** Another edition imports the same people and strangers, and the organisation learns more about them. */
async function learnElsewhere(): Promise<void> {
  for (const email of emails)
    await importOrders(two.theirs, [anOrder({ customer: { email, locale: 'pl', ...secret } })])
  const strangers = ['zhidden@example.dk', 'anna.other@example.dk', 'zm@example.dk']
  for (const email of strangers) await importOrders(two.theirs, [anOrder({ customer: { email, ...secret } })])
  await patch(`/v1/user/${people[0]}`, { last_name: 'Zsurname', phone_number: '+4560708090' }, two.organizationManager)
  await patch(`/v1/user/${people[1]}`, { email: 'zhidden2@example.dk' }, two.organizationManager)
  const ids = sql`(select value from json_each(${JSON.stringify(people)}))`
  await write(sql`update users set is_verified = 1, last_seen_at = 1700000000000, metadata = '{"note":"zmetadata"}'
    where id in ${ids}`)
}

beforeAll(async () => {
  two = await givenTwo()
  for (const [index, email] of emails.entries())
    await importOrders(
      two.mine,
      [anOrder({ customer: { email, first_name: `Guest ${index}`, metadata: { mine: index } } })],
      {},
      two.manager,
    )
  people = await Promise.all(emails.map(async (email) => (await loadCustomer(two.mine, email)).id))
  const { edition_id, organization_id } = two.mine
  segment = (await givenSegment({ organization_id, edition_id, expression: 'true' }, two.manager)).id as string
  // The first use of a token writes when it was used.
  await observeAll()
})

describe('a role of an edition, when another edition imports its customers', () => {
  it('reads the same answers from the same number of rows as before', async () => {
    const before = await observeAll()
    const membersBefore = await exportMembers()
    await learnElsewhere()
    const after = await observeAll()
    for (const [request, observation] of Object.entries(before)) {
      expect([request, observation.status]).toEqual([request, 200])
      const { queries, rows_read, ...answer } = observation
      expect([request, after[request]]).toMatchObject([request, answer])
      // Purchases of a customer are read by an index of the customer, which has the orders of all editions. Known
      // languages are counted beside purchases of the newest orders, whose keys border on keys of other orders.
      if (request.startsWith('/v1/user') || (request.startsWith('user.') && !request.startsWith('user.locale')))
        expect([request, after[request]]).toMatchObject([request, { queries, rows_read }])
    }
    expect(await exportMembers()).toBe(membersBefore)
    expect(JSON.stringify(Object.values(after))).not.toMatch(/zsurname"|6070 ?8090"|zmetadata|hidden@example/i)
  })

  it('reads what its own imports said, while the organisation reads what it knows', async () => {
    const [id] = people
    const editionView = (await get(`/v1/user/${id}`, two.viewer)).body
    const fullCustomer = (await get(`/v1/user/${id}`, two.organizationViewer)).body
    expect(editionView).toMatchObject({
      first_name: 'Guest 0',
      last_name: '',
      phone_number: null,
      metadata: { mine: 0 },
      is_verified: false,
      is_active: true,
      last_seen: null,
      msg_channel: 'email',
    })
    expect(fullCustomer).toMatchObject({
      last_name: 'Zsurname',
      phone_number: '+4560708090',
      metadata: { note: 'zmetadata' },
      is_verified: true,
      last_seen: '2023-11-14T22:13:20.000Z',
    })
  })

  it('learns from `is_active` who gets no mail, whoever switched it off', async () => {
    await write(sql`update users set is_active = 0 where id = ${people[2]}`)
    expect((await get(`/v1/user/${people[2]}`, two.viewer)).body.is_active).toBe(false)
  })

  it('cannot find people of other editions in any list, filter or search', async () => {
    const stranger = await loadCustomer(two.mine, 'hidden@example.dk')
    for (const path of [`/v1/user/${stranger.id}`, '/v1/user/usr_01HZZZZZZZZZZZZZZZZZZZZZZZ'])
      expect([path, (await get(path, two.viewer)).status]).toEqual([path, 404])
    const { edition_id } = two.theirs
    for (const path of [`/v1/user?edition_id=${edition_id}`, `/v1/user?edition_id=${edition_id}&search=zmarker`])
      expect([path, (await get(path, two.viewer)).body.count]).toEqual([path, 0])
  })
})
