export type RowFormat = 'csv' | 'ndjson'

const newLine = 0x0a
const quotationMark = 0x22

export interface CompleteRows {
  bytes: Uint8Array
  count: number
  /** Null if no row is complete. */
  first: string | null
  last: string | null
  /** The bytes of the first row, 0 without one. */
  firstLength: number
}

const noRows: CompleteRows = { bytes: new Uint8Array(), count: 0, first: null, last: null, firstLength: 0 }

const concat = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(one.length + other.length)
  bytes.set(one)
  bytes.set(other, one.length)
  return bytes
}

/** Leaves out the byte order mark, if there is one. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Divides a stream of bytes behind its complete rows. A cell of CSV may contain line breaks. */
export class RowSplitter {
  readonly #format: RowFormat
  #rest: Uint8Array = new Uint8Array()
  #isQuoted = false

  constructor(format: RowFormat) {
    this.#format = format
  }

  /** Takes bytes, and returns the rows that they complete. */
  push(chunk: Uint8Array): CompleteRows {
    const ends: number[] = []
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] === quotationMark && this.#format === 'csv') this.#isQuoted = !this.#isQuoted
      else if (chunk[at] === newLine && !this.#isQuoted) ends.push(at + 1)
    }
    const [firstEnd, end] = [ends[0], ends.at(-1)]
    if (firstEnd === undefined || end === undefined) {
      this.#rest = concat(this.#rest, chunk)
      return noRows
    }
    const bytes = concat(this.#rest, chunk.subarray(0, end))
    const offset = this.#rest.length
    const lastStart = ends.length === 1 ? 0 : offset + (ends.at(-2) ?? 0)
    this.#rest = chunk.slice(end)
    return {
      bytes,
      count: ends.length,
      first: decode(bytes.subarray(0, offset + firstEnd)),
      last: decode(bytes.subarray(lastStart)),
      firstLength: offset + firstEnd,
    }
  }

  /** The bytes behind the last complete row. */
  get rest(): Uint8Array {
    return this.#rest
  }
}

const readCells = (row: string): string[] =>
  [...row.replace(/\r?\n$/, '').matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )

/** The id in a row. Null if the file has no column with it. */
export function readId(format: RowFormat, header: string, row: string): string | null {
  if (format === 'ndjson') {
    const { id } = JSON.parse(row) as { id?: string }
    return id ?? null
  }
  const index = readCells(header).indexOf('id')
  return index === -1 ? null : (readCells(row)[index] ?? null)
}
