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
}

export interface EntryFormat {
  hasTextValues: boolean
  hasTextKeys: boolean
  /** A power of two above all kinds. */
  kinds: number
}

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

/** Texts of which each says how it differs from the one before. */
class TextsPacker {
  #last: Uint8Array = new Uint8Array()

  write(writer: Writer, text: string): void {
    const bytes = encoder.encode(text)
    const shared = sharedLength(this.#last, bytes)
    writer.natural(shared)
    writer.text(bytes.subarray(shared))
    this.#last = bytes
  }
}

class PackedTexts {
  #bytes = new Uint8Array(64)
  #length = 0

  next(reader: Reader): void {
    const shared = reader.natural()
    const rest = reader.text()
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

/** Packs entries: each says how it differs from the one before. */
export function packEntries(entries: readonly Entry[], { hasTextValues, hasTextKeys, kinds }: EntryFormat): Uint8Array {
  const writer = new Writer()
  const [values, keys] = [new TextsPacker(), new TextsPacker()]
  let last = { value: 0, created_at: 0, key: 0 }
  for (const { value, created_at, key, kind } of entries) {
    const numbers = { value: hasTextValues ? 0 : Number(value), created_at, key: hasTextKeys ? 0 : Number(key) }
    if (hasTextValues) values.write(writer, String(value))
    else writer.integer(numbers.value - last.value)
    writer.integer(created_at - last.created_at)
    if (hasTextKeys) {
      keys.write(writer, String(key))
      writer.natural(kind)
    } else writer.integer((numbers.key - last.key) * kinds + kind)
    last = numbers
  }
  return writer.done()
}

/** The entries of a moment and a kind that are asked for, in their order. */
export function unpackEntries(
  bytes: Uint8Array,
  { hasTextValues, hasTextKeys, kinds }: EntryFormat,
  isWanted: (created_at: number, kind: number) => boolean,
): Entry[] {
  const reader = new Reader(bytes)
  const [values, keys] = [new PackedTexts(), new PackedTexts()]
  const found: Entry[] = []
  let [value, created_at, key, kind] = [0, 0, 0, 0]
  while (!reader.isAtEnd) {
    if (hasTextValues) values.next(reader)
    else value += reader.integer()
    created_at += reader.integer()
    if (hasTextKeys) {
      keys.next(reader)
      kind = reader.natural()
    } else {
      const change = reader.integer()
      key += Math.floor(change / kinds)
      kind = change - Math.floor(change / kinds) * kinds
    }
    if (isWanted(created_at, kind))
      found.push({
        value: hasTextValues ? values.text() : value,
        created_at,
        key: hasTextKeys ? keys.text() : key,
        kind,
      })
  }
  return found
}
