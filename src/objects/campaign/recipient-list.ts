import type { RecipientRow, RecipientsPage, RecipientsQuery } from '../../domain/campaigns/sender.ts'
import { compareTexts, type Ranked } from './address-order.ts'
import { conditionOf, countOf, type ListEntries, firstPlace, isMatch, numberAt, timesOf } from './list-entries.ts'
import type { RecipientStore } from './recipient-store.ts'

type CursorValue = string | number

/** All recipients in the order of numbers, and that of their addresses where it is asked for. */
interface Everyone {
  entries: ListEntries
  ranked: Ranked | null
}

interface RecipientKey {
  desc: boolean
  /** What is compared, by place. */
  column: Float64Array
  /** How many values of the cursor are of this key. */
  width: number
  write: (row: RecipientRow) => CursorValue[]
  /** What stands for it in the column, or the address. */
  read: (written: readonly CursorValue[]) => CursorValue
}

type KeyOf = (everyone: Everyone, desc: boolean) => RecipientKey

const first = ([value = 0]: readonly CursorValue[]): CursorValue => value

const keyOf: Record<RecipientsQuery['sort'][number]['by'], KeyOf> = {
  address: ({ ranked }, desc) => ({
    desc,
    column: ranked?.ranks ?? new Float64Array(),
    width: 1,
    write: (row) => [row.address],
    read: first,
  }),
  // Recipients without a time of sending come last in both directions.
  sent_at: ({ entries }, desc) => {
    const unsent = desc ? -Number.MAX_VALUE : Number.MAX_VALUE
    return {
      desc,
      column: timesOf(entries, unsent),
      width: 2,
      write: (row) => [Number(row.sent_at === null), row.sent_at ?? 0],
      read: ([isUnsent, at = 0]) => (isUnsent === 1 ? unsent : at),
    }
  },
  n: ({ entries }, desc) => ({
    desc,
    column: Float64Array.from({ length: countOf(entries) }, (_, place) => numberAt(entries, place)),
    width: 1,
    write: (row) => [row.n],
    read: first,
  }),
}

/** All keys of an order, of which the last is the number. */
const keysOf = (everyone: Everyone, sort: RecipientsQuery['sort']): RecipientKey[] =>
  [
    ...sort.filter(({ by }) => by !== 'n'),
    sort.find(({ by }) => by === 'n') ?? ({ by: 'n', desc: sort.at(-1)?.desc ?? false } as const),
  ].map(({ by, desc }) => keyOf[by](everyone, desc))

/** The places of those that match, in the order of the keys. */
function findPlaces({ entries, ranked }: Everyone, query: RecipientsQuery, keys: readonly RecipientKey[]): number[] {
  const condition = conditionOf(query)
  if (condition === null) return []
  // They come in an order that is near that of the list, so that almost each takes one comparison.
  const near = query.sort[0]?.by === 'address' ? ranked?.places : undefined
  const found: number[] = []
  for (let at = 0; at < countOf(entries); at++) {
    const place = near?.[at] ?? at
    if (isMatch(entries, place, condition)) found.push(place)
  }
  return found.toSorted((one, other) => {
    for (const { desc, column } of keys) {
      const difference = (column[one] ?? 0) - (column[other] ?? 0)
      if (difference !== 0) return desc ? -difference : difference
    }
    return 0
  })
}

/** The row before the page, as the keys compare it. Null where the cursor is of another order. */
function readCursor(after: readonly CursorValue[] | null, keys: readonly RecipientKey[]): CursorValue[] | null {
  if (after?.length !== keys.reduce((sum, { width }) => sum + width, 0)) return null
  let at = 0
  return keys.map(({ width, read }) => read(after.slice(at, (at += width))))
}

/** The recipients of a campaign, by page. */
export class RecipientList {
  readonly #store: RecipientStore

  constructor(store: RecipientStore) {
    this.#store = store
  }

  /** One page of the recipients, and the count of all that match. It reads the entries of all, and the rows of its own. */
  page(query: RecipientsQuery): RecipientsPage {
    const { lists, addressOrder } = this.#store
    const isByAddress = query.sort.some(({ by }) => by === 'address')
    this.#store.prepareLists(isByAddress)
    const entries = lists.all()
    const everyone = { entries, ranked: isByAddress ? addressOrder.ranked(entries) : null }
    const keys = keysOf(everyone, query.sort)
    const places = findPlaces(everyone, query, keys)
    const before = readCursor(query.after, keys)
    const start = before ? this.#indexAfter(before, { entries, places, keys }) : query.skipped
    const found = places.slice(start, start + query.size).map((place) => numberAt(entries, place))
    const rows = new Map(this.#store.recipients(found).map((row) => [row.n, row]))
    const ordered = found.flatMap((n) => rows.get(n) ?? [])
    const last = start + query.size < places.length ? ordered.at(-1) : undefined
    const after = last ? keys.flatMap(({ write }) => write(last)) : null
    return { rows: ordered, count: places.length, after }
  }

  /** Where those begin that stand behind the row before, whatever became of that one. */
  #indexAfter(
    before: readonly CursorValue[],
    { entries, places, keys }: { entries: ListEntries; places: readonly number[]; keys: readonly RecipientKey[] },
  ): number {
    return firstPlace(places.length, (index) => {
      const place = places[index] ?? 0
      for (const [at, { desc, column }] of keys.entries()) {
        const value = before[at] ?? 0
        const difference =
          typeof value === 'string'
            ? compareTexts(this.#store.addressOf(numberAt(entries, place)), value)
            : (column[place] ?? 0) - value
        if (difference !== 0) return difference > 0 !== desc
      }
      return false
    })
  }
}
