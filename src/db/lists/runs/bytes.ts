/** Small numbers in few bytes: seven bits each, the lowest first. Negative ones alternate with positive ones. */
export class Writer {
  readonly #bytes: number[] = []

  natural(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push(128 + (rest % 128))
    this.#bytes.push(rest)
  }

  integer(value: number): void {
    this.natural(value < 0 ? -2 * value - 1 : 2 * value)
  }

  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.#bytes.push(byte)
  }

  done = (): Uint8Array<ArrayBuffer> => Uint8Array.from(this.#bytes)
}

export class Reader {
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

  bytes(length: number): Uint8Array {
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
