import { stampNames, type Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { NewRecipient, RecipientRow } from '../../domain/campaigns/sender.ts'
import { minChunk } from '../../domain/campaigns/sending-policy.ts'
import { isList, readJson } from '../../domain/text/json.ts'
import type { RecipientOutcome } from './schema.ts'

/** What a pack has of each person, in this order. */
const packedFields = ['n', 'user_id', 'address', 'language', 'person'] as const satisfies (keyof RecipientRow)[]

type PackedFields = Pick<RecipientRow, (typeof packedFields)[number]>

/** All else of a recipient who waits for the first call. */
const untried: Omit<RecipientRow, keyof PackedFields> = {
  state: 'pending',
  reason: null,
  code: '',
  detail: '',
  attempts: 0,
  provider_id: null,
  sent_at: null,
  ...(Object.fromEntries(stampNames.map((name) => [name, null])) as Stamps),
}

type Packed = [number, string, string, RecipientRow['language'], string]

const fromPack = ([n, user_id, address, language, person]: Packed): RecipientRow => ({
  n,
  user_id,
  address,
  language,
  person,
  ...untried,
})

/** A recipient before the first call; one with a reason is skipped. */
export const asRecipient = ({ reason, ...one }: NewRecipient): RecipientRow => ({
  ...one,
  ...untried,
  ...(reason !== null && { state: 'skipped', reason }),
})

const columns = [...packedFields, ...Object.keys(untried)]
const valuesOfPack = [
  ...packedFields.map((_, at) => `value ->> ${at}`),
  ...Object.values(untried).map((value) => (typeof value === 'string' ? `'${value}'` : String(value))),
]
const numeric = new Set<string>(['n', 'attempts', 'sent_at', ...stampNames])
/** Those of a value have no type by themselves. */
const columnsOfPack = columns.map(
  (name, at) => `cast(${valuesOfPack[at]} as ${numeric.has(name) ? 'integer' : 'text'})`,
)

/** All recipients in SQL: those with a row, and those in packs. */
export const everyone = `(select ${columns.join(', ')} from recipients
  union all select ${columnsOfPack.join(', ')} from packs, json_each(packs.people))`

/** What is known of a recipient when the row is written first. */
const startColumns = [
  'n',
  'user_id',
  'address',
  'language',
  'person',
  'state',
  'reason',
  'attempts',
  'provider_id',
  'sent_at',
  'delivered_at',
] as const satisfies (keyof RecipientRow)[]

/** The platform binds a hundred values to a statement. */
const rowsAStatement = Math.floor(100 / startColumns.length)

const insertion = (rows: number): string => {
  const values = `(${startColumns.map(() => '?').join(', ')})`
  return `insert into recipients (${startColumns.join(', ')}) values ${Array.from({ length: rows }, () => values).join(', ')}`
}

const numberOf = ({ n }: { n: number }): number => n

const isPacked = (value: unknown): value is Packed[] => isList(value) && value.every(isList)

/** More than all chunks under way have. */
const mostKnown = 40

type Outcomes = ReadonlyMap<number, RecipientOutcome>

function withOutcome(row: RecipientRow, outcome: RecipientOutcome | undefined, delivered: boolean): RecipientRow {
  if (outcome?.to !== 'sent') return row
  const { to, provider_id, at } = outcome
  return { ...row, state: to, attempts: 1, provider_id, sent_at: at, delivered_at: delivered ? at : null }
}

/**
 * Recipients who wait for the first call. Fifty share a row, so that each is written once by itself, with the outcome.
 * The numbers of two packs do not overlap.
 */
export class PackStore {
  readonly #sql: SqlStorage
  /** By the first number. A chunk needs the people of its packs three times: for its numbers, its calls and its report. */
  readonly #known = new Map<number, RecipientRow[]>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Has all packs read again: a transaction was undone. */
  forget(): void {
    this.#known.clear()
  }

  #peopleOf(first: number): RecipientRow[] {
    const known = this.#known.get(first)
    if (known) return known
    const { people } = this.#sql.exec<{ people: string }>('select people from packs where first = ?', first).one()
    const rows = readJson(people, isPacked).map(fromPack)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= mostKnown) this.#known.delete(oldest)
    this.#known.set(first, rows)
    return rows
  }

  /** Gives recipients a row each. */
  insert(rows: readonly RecipientRow[]): void {
    for (let start = 0; start < rows.length; start += rowsAStatement) {
      const part = rows.slice(start, start + rowsAStatement)
      this.#sql.exec(insertion(part.length), ...part.flatMap((row) => startColumns.map((name) => row[name])))
    }
  }

  /** Adds recipients who wait. They get rows where their numbers overlap with a pack. */
  add(people: readonly RecipientRow[]): void {
    const sorted = people.toSorted((one, other) => one.n - other.n)
    const [newest] = this.#sql.exec<{ last: number }>('select last from packs order by first desc limit 1').toArray()
    if (newest && sorted[0] && sorted[0].n <= newest.last) return this.insert(sorted)
    for (let start = 0; start < sorted.length; start += minChunk) {
      const pack = sorted.slice(start, start + minChunk)
      this.#sql.exec(
        'insert into packs (first, last, people) values (?, ?, ?)',
        pack[0]?.n,
        pack.at(-1)?.n,
        JSON.stringify(pack.map((one) => packedFields.map((name) => one[name]))),
      )
    }
  }

  /** The people of each pack after a number, in the order of numbers. */
  *#each(after: number): Generator<RecipientRow[]> {
    const packs = this.#sql.exec<{ first: number }>(
      'select first from packs where first >= coalesce((select max(first) from packs where first <= ?), 0) order by first',
      after,
    )
    for (const { first } of packs) {
      const people = this.#peopleOf(first).filter(({ n }) => n > after)
      if (people.length) yield people
    }
  }

  /** Everyone who waits, in the order of numbers. */
  *all(): Generator<RecipientRow> {
    for (const people of this.#each(0)) yield* people
  }

  /** The next after a number: those of one pack, and of as many more as have so many people together. */
  after(number: number, size: number): number[] {
    const numbers: number[] = []
    for (const people of this.#each(number)) {
      if (numbers.length && numbers.length + people.length > size) break
      numbers.push(...people.map(numberOf))
    }
    return numbers
  }

  #firstAfter(n: number): number {
    const [pack] = this.#sql.exec<{ first: number }>('select first from packs where first > ? limit 1', n).toArray()
    return pack?.first ?? Infinity
  }

  /** The packs that have these people. Reads as many as there are, however far they are apart. */
  #holding(numbers: readonly number[]): { first: number; people: RecipientRow[] }[] {
    const wanted = numbers.toSorted((one, other) => one - other)
    const found: number[] = []
    for (let at = 0; at < wanted.length;) {
      const n = wanted[at] ?? 0
      const [pack] = this.#sql
        .exec<{ first: number; last: number }>(
          'select first, last from packs where first <= ? order by first desc limit 1',
          n,
        )
        .toArray()
      const isHeld = pack !== undefined && n <= pack.last
      if (isHeld) found.push(pack.first)
      const next = isHeld ? pack.last + 1 : this.#firstAfter(n)
      while (at < wanted.length && (wanted[at] ?? 0) < next) at++
    }
    const known = new Set(numbers)
    return found
      .map((first) => ({ first, people: this.#peopleOf(first) }))
      .filter(({ people }) => people.some(({ n }) => known.has(n)))
  }

  find(numbers: readonly number[]): RecipientRow[] {
    const wanted = new Set(numbers)
    return this.#holding(numbers).flatMap(({ people }) => people.filter(({ n }) => wanted.has(n)))
  }

  /**
   * Gives these people a row each, and those who wait in a pack with them, with the outcomes of those who were sent to.
   * Answers these.
   */
  unpack(numbers: readonly number[], outcomes: Outcomes = new Map(), delivered = false): RecipientRow[] {
    const packs = this.#holding(numbers)
    for (const { first } of packs) {
      this.#sql.exec('delete from packs where first = ?', first)
      this.#known.delete(first)
    }
    const rows = packs.flatMap(({ people }) => people).map((row) => withOutcome(row, outcomes.get(row.n), delivered))
    this.insert(rows)
    return rows.filter(({ state }) => state === 'sent')
  }

  /** Unpacks who is in chunks of earlier runs: those chunks hand them out, and a new run hands out all packs. */
  unpackChunks(): void {
    const found = this.#sql.exec<{ n: number }>('select value as n from chunks, json_each(chunks.members)').toArray()
    this.unpack(found.map(numberOf))
  }

  /** Deletes all packs. Answers how many people were in them. */
  clear(): number {
    this.forget()
    return this.#sql
      .exec<{ n: number }>('delete from packs returning json_array_length(people) as n')
      .toArray()
      .reduce((sum, { n }) => sum + n, 0)
  }
}
