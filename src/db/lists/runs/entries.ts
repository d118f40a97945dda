import { Reader, Writer } from './bytes.ts'
import { packOwners, type RowOwner, unpackOwners } from './row-owners.ts'

/** A row in a run. Those of a run stand in the order of their keys. */
export interface Entry {
  /** An integer in some orderings, a text in others. */
  value: number | string
  /** Milliseconds UTC. */
  created_at: number
  /** That of the row: a number in some lists, a text in others. */
  key: number | string
  /** Which values it has in the facets of its list, as a number. */
  kind: number
  /** The editions that have the row, as `ownersIn` reads them, where several do and the list says so. */
  owners?: string | undefined
}

/** A row of a run. Of one that runs do not have as it is the kind is not known. */
export interface ListedEntry extends Omit<Entry, 'kind' | 'owners'> {
  kind: number | null
}

export interface EntryFormat {
  hasTextValues: boolean
  hasTextKeys: boolean
  /** Otherwise moments of creation are 0. */
  hasMoments: boolean
  /** Each column of the entries by itself, which makes them shorter. */
  isDeflated: boolean
  /** A power of two above all kinds. */
  kinds: number
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}

/** Texts of which each says how it differs from the one before. */
class TextsPacker {
  #last: Uint8Array = new Uint8Array()

  write(lengths: Writer, texts: Writer, text: string): void {
    const bytes = encoder.encode(text)
    const shared = sharedLength(this.#last, bytes)
    lengths.natural(shared)
    lengths.natural(bytes.length - shared)
    texts.bytes(bytes.subarray(shared))
    this.#last = bytes
  }
}

class PackedTexts {
  #bytes = new Uint8Array(64)
  #length = 0

  next(lengths: Reader, texts: Reader): void {
    const shared = lengths.natural()
    const rest = texts.bytes(lengths.natural())
    this.#length = shared + rest.length
    if (this.#length > this.#bytes.length) {
      const longer = new Uint8Array(2 * this.#length)
      longer.set(this.#bytes)
      this.#bytes = longer
    }
    this.#bytes.set(rest, shared)
  }

  text = (): string => decoder.decode(this.#bytes.subarray(0, this.#length))
}

/** `owners` has a number for each entry: that of one of the texts in `sets`, or 0. */
const columns = ['values', 'texts', 'moments', 'keys', 'kinds', 'owners', 'sets'] as const
type EntryColumns<Of> = Record<(typeof columns)[number], Of>

const columnsOf = <Of>(of: () => Of): EntryColumns<Of> => ({
  values: of(),
  texts: of(),
  moments: of(),
  keys: of(),
  kinds: of(),
  owners: of(),
  sets: of(),
})

const throughStream = async (
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())

/** Columns one behind the other, each behind its length. */
function deflated(written: EntryColumns<Writer>): Promise<Uint8Array<ArrayBuffer>> {
  const writer = new Writer()
  for (const name of columns) {
    const bytes = written[name].done()
    writer.natural(bytes.length)
    writer.bytes(bytes)
  }
  return throughStream(writer.done(), new CompressionStream('deflate-raw'))
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<EntryColumns<Reader>> {
  const reader = new Reader(await throughStream(bytes, new DecompressionStream('deflate-raw')))
  return columnsOf(() => new Reader(reader.bytes(reader.natural())))
}

/** Packs entries: each says how it differs from the one before. */
export async function packEntries(
  entries: readonly Entry[],
  { hasTextValues, hasTextKeys, hasMoments, isDeflated, kinds }: EntryFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  const one = new Writer()
  const to = columnsOf(() => (isDeflated ? new Writer() : one))
  const [values, keys] = [new TextsPacker(), new TextsPacker()]
  const sets = new Map<string, number>([['', 0]])
  let last = { value: 0, created_at: 0, key: 0 }
  for (const { value, created_at, key, kind, owners = '' } of entries) {
    const numbers = { value: hasTextValues ? 0 : Number(value), created_at, key: hasTextKeys ? 0 : Number(key) }
    if (hasTextValues) values.write(to.values, to.texts, String(value))
    else to.values.integer(numbers.value - last.value)
    if (hasMoments) to.moments.integer(created_at - last.created_at)
    if (hasTextKeys) keys.write(to.keys, to.keys, String(key))
    else to.keys.integer((numbers.key - last.key) * (isDeflated ? 1 : kinds) + (isDeflated ? 0 : kind))
    if (hasTextKeys || isDeflated) to.kinds.natural(kind)
    const set = sets.get(owners) ?? sets.size
    sets.set(owners, set)
    if (isDeflated) to.owners.natural(set)
    last = numbers
  }
  if (isDeflated) packOwners(to.sets, [...sets.keys()])
  return isDeflated ? deflated(to) : one.done()
}

/** Says of a row whether it is wanted: its kind, or another one as which it is seen, otherwise null. */
export type JudgeEntry = (created_at: number, kind: number, owners: readonly RowOwner[] | null) => number | null

/** The entries that are wanted, in their order. */
export async function unpackEntries(
  bytes: Uint8Array<ArrayBuffer>,
  { hasTextValues, hasTextKeys, hasMoments, isDeflated, kinds }: EntryFormat,
  judge: JudgeEntry,
): Promise<Entry[]> {
  const one = new Reader(bytes)
  const from = isDeflated ? await inflated(bytes) : columnsOf(() => one)
  const [values, keys] = [new PackedTexts(), new PackedTexts()]
  const sets = isDeflated ? unpackOwners(from.sets) : [null]
  const found: Entry[] = []
  let [value, created_at, key, kind] = [0, 0, 0, 0]
  while (!from.keys.isAtEnd) {
    if (hasTextValues) values.next(from.values, from.texts)
    else value += from.values.integer()
    if (hasMoments) created_at += from.moments.integer()
    if (hasTextKeys) keys.next(from.keys, from.keys)
    else {
      const change = from.keys.integer()
      const step = isDeflated ? change : Math.floor(change / kinds)
      key += step
      kind = change - step * kinds
    }
    if (hasTextKeys || isDeflated) kind = from.kinds.natural()
    const owners = isDeflated ? (sets[from.owners.natural()] ?? null) : null
    const seen = judge(created_at, kind, owners)
    if (seen !== null)
      found.push({
        value: hasTextValues ? values.text() : value,
        created_at,
        key: hasTextKeys ? keys.text() : key,
        kind: seen,
      })
  }
  return found
}
