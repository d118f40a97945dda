import { toHex } from '../../domain/encoding.ts'
import type { StoredBody } from './files.ts'

/** Counts, hashes and keeps the beginning of bytes that go by. */
export class Digest {
  readonly #stream = new crypto.DigestStream('SHA-256')
  readonly #writer = this.#stream.getWriter()
  readonly #head: Uint8Array
  size = 0

  constructor(headBytes: number) {
    this.#head = new Uint8Array(headBytes)
    // A body that breaks off ends the digest too, and nobody asks for it.
    this.#stream.digest.catch(() => undefined)
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (this.size < this.#head.length) this.#head.set(chunk.subarray(0, this.#head.length - this.size), this.size)
    this.size += chunk.byteLength
    await this.#writer.write(chunk)
  }

  async end(): Promise<StoredBody> {
    await this.#writer.close()
    const head = this.#head.subarray(0, Math.min(this.size, this.#head.length))
    return { size: this.size, checksum_sha256: toHex(await this.#stream.digest), head }
  }

  async abort(): Promise<void> {
    await this.#writer.abort().catch(() => undefined)
  }
}
