import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { buildPage } from '../../src/db/paginate.ts'
import type { NewRecipient, RecipientRow, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import { engagements, failReasons, recipientStates, skipReasons } from '../../src/domain/campaigns/sending-policy.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { KeyValue, Page } from '../../src/domain/page.ts'
import { selectRecipients } from '../../src/objects/campaign/recipient-list.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { freshId } from './seeding/rows.ts'

const engaged: Record<(typeof engagements)[number], (row: RecipientRow) => boolean> = {
  delivered: (row) => row.delivered_at !== null,
  opened: (row) => row.opened_at !== null,
  not_opened: (row) => row.state === 'sent' && row.bounced_at === null && row.opened_at === null,
  clicked: (row) => row.clicked_at !== null,
  not_clicked: (row) => row.state === 'sent' && row.bounced_at === null && row.clicked_at === null,
  bounced: (row) => row.bounced_at !== null,
  complained: (row) => row.complained_at !== null,
  unsubscribed: (row) => row.unsubscribed_at !== null,
}

/** SQLite compares texts by their bytes. Empty values come last in both directions. */
function compareValues(one: KeyValue, other: KeyValue, desc: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  const isText = typeof one === 'string' && typeof other === 'string'
  const difference = isText ? Buffer.compare(Buffer.from(one), Buffer.from(other)) : Number(one) - Number(other)
  return desc ? -difference : difference
}

type ListedPage = Pick<Page<RecipientRow>, 'rows' | 'count' | 'after'>

/** Builds a page by filtering and sorting all recipients in memory, or null after the last page. */
export function computePage(storage: SqlStorage, query: RecipientsQuery): ListedPage | null {
  const { state, reason, engagement, ordering } = query
  const { page, size, after } = query.page
  const keys = [...ordering, { name: 'n' as const, desc: ordering.at(-1)?.desc ?? false }]
  const readKeys = (row: RecipientRow): KeyValue[] => keys.map(({ name }) => row[name])
  const compareKeys = (one: readonly KeyValue[], other: readonly KeyValue[]): number =>
    keys.reduce((result, { desc }, index) => result || compareValues(one[index] ?? null, other[index] ?? null, desc), 0)
  const all = storage.exec('select * from recipients').toArray() as unknown as RecipientRow[]
  const matching = all
    .filter((row) => state === undefined || row.state === state)
    .filter((row) => reason === undefined || row.reason === reason)
    .filter((row) => engagement === undefined || engaged[engagement](row))
    .toSorted((one, other) => compareKeys(readKeys(one), readKeys(other)))
  const skipped = (page - 1) * size
  if (!after && skipped > 0 && skipped >= matching.length) return null
  const rest = after ? matching.filter((row) => compareKeys(readKeys(row), after) > 0) : matching.slice(skipped)
  const rows = rest.slice(0, size)
  const last = rows.at(-1)
  return { rows, count: matching.length, after: last && rest.length > size ? readKeys(last) : null }
}

const withoutKeys = (row: RecipientRow): RecipientRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !/^k\d$/.test(name))) as unknown as RecipientRow

/** Reads a page as the API builds it, or null after the last page. */
export function readPage(storage: SqlStorage, query: RecipientsQuery): ListedPage | null {
  try {
    const keyCount = query.ordering.length + 1
    const selection = { ...selectRecipients(storage, query), keyCount }
    const { rows, count, after } = buildPage<RecipientRow>(query.page, selection)
    return { rows: rows.map(withoutKeys), count, after }
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_page') return null
    throw error
  }
}

const by = (name: 'address' | 'sent_at') => fc.record({ name: fc.constant(name), desc: fc.boolean() })

/** Makes any filter, combined filters, and any ordering. */
export const recipientsQuery: fc.Arbitrary<RecipientsQuery> = fc.record({
  state: fc.option(fc.constantFrom(...recipientStates), { nil: undefined }),
  reason: fc.option(fc.constantFrom(...skipReasons, ...failReasons), { nil: undefined, freq: 4 }),
  engagement: fc.option(fc.constantFrom(...engagements), { nil: undefined }),
  ordering: fc.oneof<fc.Arbitrary<RecipientsQuery['ordering']>[]>(
    fc.constant([]),
    fc.tuple(fc.oneof(by('address'), by('sent_at'))),
    fc.tuple(by('address'), by('sent_at')),
    fc.tuple(by('sent_at'), by('address')),
  ),
  page: fc.record({
    page: fc.constantFrom(1, 1, 2, 5),
    size: fc.constantFrom(1, 3, 10, 50),
    after: fc.constant(null),
  }),
})

/** Runs on the recipients of a campaign that no other test uses. */
export function withStore(work: (store: RecipientStore) => Promise<void> | void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), async (_, state) => {
    const store = new RecipientStore(state.storage)
    store.ensureRecord(id)
    await work(store)
  })
}

/** Letters of two and three bytes appear where byte order matters, and pairs share an address. */
const aPerson = (n: number): NewRecipient => ({
  n,
  user_id: `usr_${n}`,
  address: `${['a', 'Z', 'ø', '\uFFEE', '\u{1F600}'][(n >> 1) % 5]}${((n >> 1) * 7919) % 1009}${n % 6 < 2 ? '' : `-${n}`}@example.dk`,
  language: 'en',
  person: JSON.stringify({ id: `usr_${n}`, email: null, phone_number: null, first_name: 'Astrid', last_name: 'Holm' }),
  conditions: 0,
  reason: null,
})

export const addPeople = (store: RecipientStore, first: number, many: number, skippedEach = 7) =>
  store.addRecipients(
    Array.from({ length: many }, (_, index) => ({
      ...aPerson(first + index),
      reason: (first + index) % skippedEach === 0 ? 'inactive' : null,
    })),
    'email',
  )
