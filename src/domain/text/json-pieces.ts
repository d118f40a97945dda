import { utf8 } from './encoding.ts'

/** A text as it stands between the quotes of JSON. */
const escapedJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A text that is in many messages. It is escaped for JSON and encoded once. */
export class FixedText {
  readonly text: string
  readonly isWellFormed: boolean
  #json: Uint8Array | undefined

  constructor(text: string) {
    this.text = text
    this.isWellFormed = text.isWellFormed()
  }

  /** As it stands between the quotes of JSON. */
  get json(): Uint8Array {
    return (this.#json ??= utf8(escapedJson(this.text)))
  }
}

/** A well-formed text in parts that are well-formed too, so that each part can be escaped by itself. */
export type TextPieces = readonly (FixedText | string)[]

const encoder = new TextEncoder()
const mostBytesOfCharacter = 3

/** JSON in parts: some are JSON already, others are texts that have to be escaped. */
export class JsonBytes {
  readonly #parts: (string | Uint8Array)[] = []
  /** The end of the JSON, not yet in a part. */
  #open = ''
  #most = 0

  /** Adds what is JSON. */
  add(json: string): void {
    this.#open += json
  }

  /** Adds one text with its quotes. */
  addText(pieces: TextPieces): void {
    this.#open += '"'
    for (const piece of pieces)
      if (typeof piece === 'string') this.#open += escapedJson(piece)
      else this.#close(piece.json)
    this.#open += '"'
  }

  #close(next: Uint8Array): void {
    this.#parts.push(this.#open, next)
    this.#most += this.#open.length * mostBytesOfCharacter + next.length
    this.#open = ''
  }

  /** The whole JSON, in the memory that `reserve` answers for its greatest length. */
  encode(reserve: (most: number) => Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#close(new Uint8Array())
    const bytes = reserve(this.#most)
    let length = 0
    for (const part of this.#parts)
      if (typeof part === 'string') length += encoder.encodeInto(part, bytes.subarray(length)).written
      else {
        bytes.set(part, length)
        length += part.length
      }
    return bytes.subarray(0, length)
  }
}
