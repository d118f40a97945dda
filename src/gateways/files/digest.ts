import { toHex } from '../../domain/text/encoding.ts'
import type { StoredBody } from './files.ts'

/** Counts and hashes the bytes of a stream, and keeps the first of them. */
export class Digest {
  readonly #stream = new crypto.DigestStream('SHA-256')
  readonly #writer = this.#stream.getWriter()
  readonly #headBytes: number
  readonly #inspect: ((chunk: Uint8Array) => void) | undefined
  /** It grows as needed, because most files are smaller than the limit. */
  #head = new Uint8Array()
  size = 0

  constructor(headBytes: number, inspect?: (chunk: Uint8Array) => void) {
    this.#headBytes = headBytes
    this.#inspect = inspect
    // If the body breaks off, the digest fails too, and nothing awaits it.
    this.#stream.digest.catch(() => undefined)
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#appendToHead(chunk)
    this.#inspect?.(chunk)
    this.size += chunk.byteLength
    await this.#writer.write(chunk)
  }

  #appendToHead(chunk: Uint8Array): void {
    const headPart = chunk.subarray(0, Math.max(0, this.#headBytes - this.size))
    const neededBytes = this.size + headPart.length
    if (headPart.length === 0) return
    if (neededBytes > this.#head.length) {
      const largerHead = new Uint8Array(Math.min(this.#headBytes, Math.max(neededBytes, 2 * this.#head.length)))
      largerHead.set(this.#head)
      this.#head = largerHead
    }
    this.#head.set(headPart, this.size)
  }

  async end(): Promise<StoredBody> {
    await this.#writer.close()
    const head = this.#head.subarray(0, Math.min(this.size, this.#headBytes))
    return { size: this.size, checksum_sha256: toHex(await this.#stream.digest), head }
  }

  async abort(): Promise<void> {
    await this.#writer.abort().catch(() => undefined)
  }
}
