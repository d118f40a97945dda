import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { movedTables } from '../../src/modules/personal-data/merge/merge-statements.ts'
import { ownPlaces } from '../../src/modules/personal-data/places.ts'
import { searchedPlaces } from '../../src/modules/personal-data/searches.ts'
import { get, post, type Reply } from '../support/api.ts'
import { listColumns, listTableNames } from '../support/dump.ts'
import { findCellsWith, finishErasures, givenKnown, type KnownPerson } from '../support/personal-data.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { write } from '../support/seeding/rows.ts'

const moves = 'names the customer who is left'
const follows = 'follows its order or purchase'
const address = 'belongs to an address, of whichever customer'
const history = 'tells what was written about the other customer, and is searched by both ids'
const unnamed = 'has texts about people without their ids'

/** The decision of a merge about every table that knows a person. */
const decisions: Record<string, string> = {
  ...Object.fromEntries(movedTables.map((table) => [table, moves])),
  users: 'the row of the other is deleted, and fills what the customer lacks',
  user_merges: 'has the id of the other, which leads to the customer',
  earlier_addresses: moves,
  edition_customers: 'moves; an edition that has both keeps one row',
  campaign_receipts: 'moves; a campaign that both got has the first times of both',
  refund_batch_customers: 'moves; a dry run that counts both counts one',
  segment_members: 'the other is removed; the next calculation tests the customer',
  consent_records: 'stay with the id that their hashes cover; the chain of the customer repeats what counts',
  erasures: 'an erased customer is refused',
  transactions: follows,
  wallet_registrations: follows,
  suppressions: address,
  soft_bounces: address,
  signup_requests: address,
  captured_messages: history,
  webhook_events: history,
  webhook_deliveries: history,
  webhook_attempts: history,
  audit_log: history,
  import_rows: unnamed,
  import_columns: unnamed,
  import_constants: unnamed,
  import_header_history: unnamed,
  import_source_history: unnamed,
  data_imports: unnamed,
  segments: unnamed,
  email_messages: unnamed,
  campaign_conditions: unnamed,
  bucket: unnamed,
  'campaign/recipients': 'keeps the number of the other, and what it reports is of the customer',
}

/** Tables whose rows still name the other customer after a merge. */
const keepsOther = [
  'user_merges',
  'consent_records',
  'captured_messages',
  'webhook_events',
  'audit_log',
  'import_orders',
]

const isPersonColumn = (column: string): boolean => /^(\w+_)?(user|customer|person)_(id|seq)$/.test(column)

/** Lists the tables that refer to a customer, that have a column for one, or in which an erasure finds a person. */
async function listPersonTables(): Promise<string[]> {
  const tables = new Set(['users'])
  for (const table of await listTableNames()) {
    const { results } = await env.DB.prepare('select "table" as target from pragma_foreign_key_list(?)')
      .bind(table)
      .all<{ target: string }>()
    const columns = await listColumns(table)
    if (results.some(({ target }) => target === 'users') || columns.some(({ name }) => isPersonColumn(name)))
      tables.add(table)
  }
  for (const column of [...ownPlaces, ...searchedPlaces].flatMap(({ columns }) => columns))
    tables.add(column.split('.')[0] ?? '')
  return [...tables].toSorted()
}

/** Lists the columns in which rows have this text or number. */
async function findColumnsWith(value: string): Promise<string[]> {
  const found: string[] = []
  for (const table of await listTableNames())
    for (const { name } of await listColumns(table)) {
      const row = await env.DB.prepare(`select 1 from "${table}" where instr("${name}", ?) limit 1`).bind(value).first()
      if (row) found.push(`${table}.${name}`)
    }
  return found
}

/** Lists the tables that name a customer by the number of the row alone. */
async function listRowsOfSeq(seq: number): Promise<string[]> {
  const tables: string[] = []
  for (const table of ['edition_customers', 'segment_members'])
    if (await env.DB.prepare(`select 1 from ${table} where user_seq = ?`).bind(seq).first()) tables.push(table)
  return tables
}

let other: KnownPerson
let ownId: string
let namesBefore: string[]
let mergeReply: Reply
let namesAfter: string[]
let numbersAfter: string[]
let exportReply: Reply
let erasureReply: Reply

beforeAll(async () => {
  other = await givenKnown({ hasFile: true })
  const place = { organization: other.organization_id, edition: other.edition_id }
  const [person] = await seedPeople(place, [{}])
  ownId = person?.id ?? ''
  const row = await env.DB.prepare('select seq from users where id = ?').bind(other.id).first<{ seq: number }>()
  await write(sql`update import_orders set user_id = ${other.id}
    where order_id in (select id from orders where user_id = ${other.id})`)
  namesBefore = await findColumnsWith(other.id)
  mergeReply = await post(`/v1/user/${ownId}/merge`, { user_id: other.id })
  namesAfter = await findColumnsWith(other.id)
  numbersAfter = await listRowsOfSeq(row?.seq ?? 0)
  exportReply = await get(`/v1/user/${ownId}/export`)
  erasureReply = await post(`/v1/user/${ownId}/erase`, {})
  await finishErasures()
})

describe('every table that knows a person', () => {
  it('has a decision about merges', async () => {
    expect(Object.keys(decisions).toSorted()).toEqual(await listPersonTables())
  })

  it('names the customer who is left, in each of the columns that named the other', async () => {
    expect(mergeReply.status, mergeReply.text).toBe(200)
    for (const table of movedTables) expect(namesBefore).toContain(`${table}.user_id`)
    const tables = new Set(namesAfter.map((column) => column.split('.')[0] ?? ''))
    expect([...tables].filter((table) => !keepsOther.includes(table))).toEqual([])
    expect(numbersAfter).toEqual([])
    const { results } = await env.DB.prepare('pragma foreign_key_check').all()
    expect(results).toEqual([])
  })

  it.each([
    'orders',
    'purchases',
    'uses',
    'refunds',
    'wallet_passes',
    'wallet_phones',
    'consents',
    'emails',
    'suppressions',
    'bounces',
    'campaigns',
    'campaign_recipients',
    'import_rows',
    'earlier_addresses',
  ])('is exported with the customer, who has the %s of the other', (name) => {
    expect(exportReply.body[name].length).toBeGreaterThan(0)
  })

  it('is exported with the answers to consents of both', () => {
    const answers: { user_id: string }[] = exportReply.body.consents
    expect(new Set(answers.map(({ user_id }) => user_id))).toEqual(new Set([ownId, other.id]))
  })

  it('is erased with the customer', async () => {
    expect(erasureReply.status).toBe(200)
    expect(await findCellsWith(other)).toEqual({})
  })
})
