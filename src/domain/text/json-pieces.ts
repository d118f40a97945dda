import { utf8 } from './encoding.ts'

/** The text between the quotes of its JSON. */
const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A text that many messages repeat. It is escaped and encoded only once. */
export class FixedText {
  readonly text: string
  readonly isWellFormed: boolean
  #json: Uint8Array | undefined

  constructor(text: string) {
    this.text = text
    this.isWellFormed = text.isWellFormed()
  }

  /** The bytes between the quotes of its JSON. */
  get json(): Uint8Array {
    return (this.#json ??= utf8(escapeJson(this.text)))
  }
}

/** A text in well-formed parts, each of which can be escaped by itself. */
export type TextPieces = readonly (FixedText | string)[]

const encoder = new TextEncoder()
const maxBytesPerCharacter = 3

/** Builds JSON from parts, some of which are encoded already. */
export class JsonBytes {
  readonly #parts: (string | Uint8Array)[] = []
  /** JSON that is not part of `#parts` yet. */
  #open = ''
  #maxLength = 0

  /** Appends JSON. */
  add(json: string): void {
    this.#open += json
  }

  /** Appends a text in quotes. */
  addText(pieces: TextPieces): void {
    this.#open += '"'
    for (const piece of pieces)
      if (typeof piece === 'string') this.#open += escapeJson(piece)
      else this.#close(piece.json)
    this.#open += '"'
  }

  #close(next: Uint8Array): void {
    this.#parts.push(this.#open, next)
    this.#maxLength += this.#open.length * maxBytesPerCharacter + next.length
    this.#open = ''
  }

  /** Encodes the JSON into the memory that `reserve` returns for the given maximum length. */
  encode(reserve: (maxLength: number) => Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#close(new Uint8Array())
    const bytes = reserve(this.#maxLength)
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
