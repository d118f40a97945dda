/** A generator that reads an image asks for its next bytes, or skips what has no meaning for its end. */
type Request =
  | { take: number }
  | { skip: number }
  /** Skips compressed data of a JPEG up to the next marker, and takes the code of the marker. */
  | 'marker'
  /** Skips sub-blocks of a GIF up to the empty one. */
  | 'blocks'

type Reader = Generator<Request, void, Uint8Array>

const pngSignatureLength = 8
const checksumLength = 4

function* readPng(): Reader {
  yield { skip: pngSignatureLength }
  for (;;) {
    const header = yield { take: 8 }
    const length = new DataView(header.buffer).getUint32(0)
    yield { skip: length + checksumLength }
    if (String.fromCharCode(...header.subarray(4)) === 'IEND') return
  }
}

const endOfImage = 0xd9
/** Markers without a length: the start of the image, restarts of the compressed data, and TEM. */
const hasLength = (code: number): boolean => code !== 0x01 && !(code >= 0xd0 && code <= 0xd8)

function* readJpeg(): Reader {
  for (;;) {
    const [code = 0] = yield 'marker'
    if (code === endOfImage) return
    if (!hasLength(code)) continue
    const length = yield { take: 2 }
    yield { skip: Math.max(0, new DataView(length.buffer).getUint16(0) - 2) }
  }
}

const getTableSize = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
const trailer = 0x3b
const frame = 0x2c

function* readGif(): Reader {
  const screen = yield { take: 13 }
  yield { skip: getTableSize(screen[10] ?? 0) }
  for (;;) {
    const [kind] = yield { take: 1 }
    if (kind === trailer) return
    if (kind === frame) {
      const descriptor = yield { take: 9 }
      yield { skip: getTableSize(descriptor[8] ?? 0) + 1 }
    } else yield { skip: 1 }
    yield 'blocks'
  }
}

const readers: readonly { first: number; read: () => Reader }[] = [
  { first: 0x89, read: readPng },
  { first: 0xff, read: readJpeg },
  { first: 0x47, read: readGif },
]

/** Looks for the end of a PNG, JPEG or GIF in chunks of any length. It reads no pixels and keeps nothing. */
export class ImageEndFinder {
  #reader: Reader | null = null
  #request: Request | null = null
  #isStarted = false
  buffer: Uint8Array<ArrayBuffer> = new Uint8Array()
  filledLength = 0
  skippedLength = 0
  #isAfterMark = false

  /** True if the bytes so far begin like one of these images and do not reach its end. */
  get isCutOff(): boolean {
    return this.#request !== null
  }

  add(chunk: Uint8Array): void {
    if (!this.#isStarted && chunk.length > 0) {
      this.#isStarted = true
      this.#reader = readers.find(({ first }) => first === chunk[0])?.read() ?? null
      this.#advance(new Uint8Array())
    }
    for (let at = 0; at < chunk.length && this.#request !== null;) at = this.#read(chunk, at, this.#request)
  }

  #advance(bytes: Uint8Array): void {
    const next = this.#reader?.next(bytes)
    this.#request = next === undefined || next.done ? null : next.value
    this.filledLength = 0
    this.skippedLength = 0
    const request = this.#request
    if (request === null || typeof request === 'string') return
    if ('take' in request) this.buffer = new Uint8Array(request.take)
    else if (request.skip === 0) this.#advance(new Uint8Array())
  }

  /** Returns the position after the bytes that were read. */
  #read(chunk: Uint8Array, at: number, request: Request): number {
    if (request === 'marker') return this.#readMarker(chunk, at)
    if (request === 'blocks') return this.#readBlocks(chunk, at)
    if ('take' in request) {
      const part = chunk.subarray(at, at + request.take - this.filledLength)
      this.buffer.set(part, this.filledLength)
      this.filledLength += part.length
      if (this.filledLength === request.take) this.#advance(this.buffer)
      return at + part.length
    }
    const length = Math.min(chunk.length - at, request.skip - this.skippedLength)
    this.skippedLength += length
    if (this.skippedLength === request.skip) this.#advance(new Uint8Array())
    return at + length
  }

  /** `FF 00` is a byte of the data, and `FF FF` fills the space before a marker. */
  #readMarker(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === 0xff) this.#isAfterMark = true
      else if (this.#isAfterMark) {
        this.#isAfterMark = false
        if (byte === 0) continue
        this.#advance(Uint8Array.of(byte))
        return at + 1
      }
    }
    return chunk.length
  }

  #readBlocks(chunk: Uint8Array, from: number): number {
    let at = from
    while (at < chunk.length) {
      const rest = Math.min(this.skippedLength, chunk.length - at)
      this.skippedLength -= rest
      at += rest
      if (at === chunk.length) return at
      this.skippedLength = chunk[at]!
      at++
      if (this.skippedLength > 0) continue
      this.#advance(new Uint8Array())
      return at
    }
    return at
  }
}
