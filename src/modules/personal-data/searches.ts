import { and, eq, gt, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { selectFormerIds } from '../../db/customers.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { select } from '../../db/select.ts'
import { containsContact, containsContactInWord, type ErasedContacts, listSpellings } from '../../domain/erasure.ts'
import { firstIdAt } from '../../domain/ids.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { hideContacts } from '../audit-log/index.ts'
import { eraseInCampaignConditions } from '../campaigns/index.ts'
import { eraseInImports, eraseInMappings, mappingColumns } from '../data-imports/index.ts'
import { eraseInConditions } from '../email-messages/index.ts'
import { eraseInSegments } from '../segments/index.ts'
import { listCampaignNumbers } from '../users/index.ts'
import { type ErasureRow, readContacts } from './places.ts'

/** Ids contain the clock of the Worker that created them. Clocks differ by less than this. */
const clockToleranceMs = 600_000
/** Longer than any job that had read the person before the erasure. A second pass then erases what those jobs wrote. */
export const secondPassAfterMs = 300_000
const campaignsPerStep = 20
const eventsPerStep = 2000

interface SearchStep {
  /** The position at which the next step continues. Null: the search has ended. */
  cursor: string | null
  /** True if something is still working with the person's data, so that the same step has to be tried later. */
  is_waiting?: boolean
  /** The addresses of the person, when the step has found more of them. */
  addresses?: ErasureRow['addresses']
}

/** Rows of the whole organisation that may mention the person. Each pass of an erasure searches them step by step. */
export interface SearchedPlace {
  name: string
  columns: readonly string[]
  start: (erasure: ErasureRow) => string
  search: (job: JobCtx, erasure: ErasureRow) => Promise<SearchStep>
}

/** Erases the person in the Durable Objects of the next campaigns. They may know further addresses. */
async function eraseInCampaigns(job: JobCtx, erasure: ErasureRow): Promise<SearchStep> {
  const startedCampaigns = await job.db.all(
    select({ seq: campaigns.seq, id: campaigns.id, channel: sql<Channel>`${campaigns.channel}` })
      .from(campaigns)
      .where(
        and(
          eq(campaigns.organization_id, erasure.organization_id),
          gt(campaigns.run, 0),
          gt(campaigns.seq, Number(erasure.cursor)),
        ),
      )
      .orderBy(campaigns.seq)
      .limit(campaignsPerStep),
  )
  const last = startedCampaigns.at(-1)
  if (!last) return { cursor: null }
  const numbers = await listCampaignNumbers(job, { id: erasure.user_id, seq: erasure.user_seq })
  const results = await Promise.all(
    startedCampaigns.flatMap(({ seq, id, channel }) =>
      numbers.map(async (n) => ({ seq, channel, ...(await job.senders.get(id).erase(n)) })),
    ),
  )
  const addresses = [...erasure.addresses]
  for (const { channel, address } of results)
    if (address !== null && !addresses.some(([otherChannel, other]) => otherChannel === channel && other === address))
      addresses.push([channel, address])
  const waitingCampaign = results.find(({ is_done }) => !is_done)
  return waitingCampaign
    ? { cursor: String(waitingCampaign.seq - 1), addresses, is_waiting: true }
    : { cursor: String(last.seq), addresses }
}

/** Texts of orders that may contain an address within a longer word. */
const orderTexts = ['order_number', 'external_id', 'vendor_code']

/**
 * Sets texts of an event to null: all texts except the id in an object that describes the person, and every text with
 * an address of the person.
 */
function removePerson(value: unknown, userIds: readonly string[], contacts: ErasedContacts, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => removePerson(item, userIds, contacts))
  if (typeof value === 'string') {
    const isTheirs = orderTexts.includes(field) ? containsContactInWord : containsContact
    return isTheirs(value, contacts) ? null : value
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  const isTheirId = (text: unknown) => typeof text === 'string' && userIds.includes(text)
  const isPerson = fields.some(([name, member]) => (name === 'api_id' || name === 'id') && isTheirId(member))
  return Object.fromEntries(
    fields.map(([name, member]) => [
      name,
      isPerson && typeof member === 'string' && !isTheirId(member)
        ? null
        : removePerson(member, userIds, contacts, name),
    ]),
  )
}

/** Erases the person in the next webhook events, and in what receivers answered to them, who may echo the payload. */
async function eraseInEvents({ db }: JobCtx, erasure: ErasureRow): Promise<SearchStep> {
  const { cursor, organization_id, user_id } = erasure
  const contacts = readContacts(erasure)
  const spellings = JSON.stringify(listSpellings(contacts))
  const [ids, events, [range]] = await db.batch([
    sql<{ id: string }>`select value as id from ${selectFormerIds(user_id)}`,
    sql<{ id: string; payload: string }>`select id, payload
      from (select id, organization_id, payload from webhook_events where id > ${cursor}
        order by id limit ${eventsPerStep})
      where organization_id = ${organization_id} and (exists (select 1 from ${selectFormerIds(user_id)} where instr(payload, value) > 0)
        or exists (select 1 from json_each(${spellings}) where instr(lower(payload), value) > 0))`,
    sql<{
      last: string
      count: number
    }>`select max(id) as last, count(*) as count from (select id from webhook_events where id > ${cursor}
      order by id limit ${eventsPerStep})`,
  ])
  const userIds = ids.map((one) => one.id)
  const erasedEvents = events.map(({ id, payload }) => [
    id,
    JSON.stringify(removePerson(JSON.parse(payload), userIds, contacts)),
  ])
  if (erasedEvents.length > 0) {
    const eventIds = JSON.stringify(events.map(({ id }) => id))
    const isOfEvents = sql`event_id in (select value from json_each(${eventIds}))`
    await db.batch([
      sql`update webhook_events set payload = erased.value ->> 1
        from json_each(${JSON.stringify(erasedEvents)}) as erased
        where webhook_events.id = erased.value ->> 0`,
      sql`update webhook_attempts set response_text = null where response_text is not null
        and delivery_id in (select id from webhook_deliveries where ${isOfEvents})`,
      sql`update webhook_deliveries set last_attempt = json_set(last_attempt, '$.response_text', null)
        where ${isOfEvents} and last_attempt ->> 'response_text' is not null`,
    ])
  }
  return { cursor: range?.count === eventsPerStep ? range.last : null }
}

async function eraseInRows(job: JobCtx, erasure: ErasureRow): Promise<SearchStep> {
  const cursor = await eraseInImports(job, { ...erasure, ...readContacts(erasure) }, erasure.cursor)
  return { cursor, is_waiting: cursor === erasure.cursor }
}

const fromBeginning = (): string => ''

/** Campaigns come first, because they may know further addresses. */
export const searchedPlaces: readonly SearchedPlace[] = [
  {
    name: 'campaigns',
    columns: [
      'campaign/recipients.address',
      'campaign/recipients.person',
      'campaign/recipients.search_text',
      'campaign/recipients.detail',
    ],
    start: () => '0',
    search: eraseInCampaigns,
  },
  {
    name: 'events',
    columns: ['webhook_events.payload', 'webhook_deliveries.last_attempt', 'webhook_attempts.response_text'],
    start: ({ user_created_at }) => firstIdAt('webhook_event', user_created_at - clockToleranceMs),
    search: eraseInEvents,
  },
  {
    name: 'imports',
    columns: [
      'import_rows.group_key',
      'import_rows.data',
      'import_rows.errors',
      'import_rows.warnings',
      'import_orders.group_key',
      'import_orders.errors',
      'import_orders.warnings',
      'import_columns.sample_values',
      'import_columns.statistics',
      'bucket',
    ],
    start: fromBeginning,
    search: eraseInRows,
  },
  {
    name: 'mappings',
    columns: mappingColumns,
    start: fromBeginning,
    search: async (job, erasure) => ({
      cursor: await eraseInMappings(job, erasure.organization_id, readContacts(erasure), erasure.cursor),
    }),
  },
  {
    name: 'audit_log',
    columns: ['audit_log.changes'],
    start: ({ pass, created_at }) => (pass === 1 ? '' : firstIdAt('audit_entry', created_at - secondPassAfterMs)),
    search: async (job, erasure) => ({
      cursor: await hideContacts(job, erasure.organization_id, readContacts(erasure), erasure.cursor),
    }),
  },
  {
    name: 'segments',
    columns: ['segments.expression', 'segments.error_message'],
    start: fromBeginning,
    search: async (job, erasure) => {
      await eraseInSegments(job, erasure, readContacts(erasure))
      return { cursor: null }
    },
  },
  {
    name: 'conditions',
    columns: ['email_messages.blocks', 'campaign_conditions.expression'],
    start: fromBeginning,
    search: async (job, erasure) => {
      const contacts = readContacts(erasure)
      await eraseInConditions(job, erasure, contacts)
      await eraseInCampaignConditions(job, erasure.organization_id, contacts)
      return { cursor: null }
    },
  },
]
