/** An order in a run. Those of a run stand in the order of their keys: value, moment of creation, number of the row. */
export interface Entry {
  /** An integer in some orderings, a text in others. */
  value: number | string
  /** Milliseconds UTC. */
  created_at: number
  seq: number
  /** Which status and type it has, by the place of both among all. */
  kind: number
}

/** The kind of an order that was deleted, or has no place in the ordering. */
export const goneKind = 15

const kinds = 16
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** Small numbers in few bytes: seven bits each, the lowest first. Negative ones alternate with positive ones. */
class Writer {
  readonly #bytes: number[] = []

  natural(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push(128 + (rest % 128))
    this.#bytes.push(rest)
  }

  integer(value: number): void {
    this.natural(value < 0 ? -2 * value - 1 : 2 * value)
  }

  text(bytes: Uint8Array): void {
    this.natural(bytes.length)
    for (const byte of bytes) this.#bytes.push(byte)
  }

  done = (): Uint8Array => Uint8Array.from(this.#bytes)
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  natural(): number {
    let [value, factor] = [0, 1]
    for (;;) {
      const byte = this.#bytes[this.#at++] ?? 0
      if (byte < 128) return value + byte * factor
      value += (byte - 128) * factor
      factor *= 128
    }
  }

  integer(): number {
    const value = this.natural()
    return value % 2 ? -(value + 1) / 2 : value / 2
  }

  text(): Uint8Array {
    const length = this.natural()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}

/** Packs entries: each says how it differs from the one before. */
export function packEntries(entries: readonly Entry[]): Uint8Array {
  const writer = new Writer()
  let last: Entry = { value: 0, created_at: 0, seq: 0, kind: 0 }
  let lastText: Uint8Array = new Uint8Array()
  for (const entry of entries) {
    const { value, created_at, seq, kind } = entry
    if (typeof value === 'string') {
      const text = encoder.encode(value)
      const shared = sharedLength(lastText, text)
      writer.natural(shared)
      writer.text(text.subarray(shared))
      lastText = text
    } else writer.integer(value - Number(last.value))
    writer.integer(created_at - last.created_at)
    writer.integer((seq - last.seq) * kinds + kind)
    last = entry
  }
  return writer.done()
}

/** The entries that meet a condition, in their order. */
export function unpackEntries(bytes: Uint8Array, isText: boolean, isWanted: (entry: Entry) => boolean): Entry[] {
  const reader = new Reader(bytes)
  const found: Entry[] = []
  let [number, created_at, seq] = [0, 0, 0]
  let text: Uint8Array = new Uint8Array()
  while (!reader.isAtEnd) {
    if (isText) {
      const shared = text.subarray(0, reader.natural())
      const rest = reader.text()
      const joined = new Uint8Array(shared.length + rest.length)
      joined.set(shared)
      joined.set(rest, shared.length)
      text = joined
    } else number += reader.integer()
    created_at += reader.integer()
    const change = reader.integer()
    seq += Math.floor(change / kinds)
    const kind = change - Math.floor(change / kinds) * kinds
    const entry = { value: number, created_at, seq, kind }
    if (isWanted(entry)) found.push(isText ? { ...entry, value: decoder.decode(text) } : entry)
  }
  return found
}
