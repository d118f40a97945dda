import { readBytes, type FileSource } from '../source.ts'
import { countUndecodable, decodeText, readByteOrderMark, createDecoder, type Encoding } from './names.ts'
import { ratePlausibility } from './plausibility.ts'

export interface DetectedEncoding {
  encoding: Encoding
  /** From 0 to 1. */
  confidence: number
  /** The length of the byte order mark. */
  markLength: number
}

/** The length of the sample of lines with characters beyond ASCII. */
const enoughSample = 65_536
const headLength = 65_536
/** In the order of precedence for texts that do not decide. */
const singleByte: Encoding[] = [
  'windows-1252',
  'windows-1250',
  'iso-8859-15',
  'iso-8859-2',
  'macintosh',
  'cp850',
  'cp437',
  'windows-1257',
]

/** Detects UTF-16 without a byte order mark: Latin text has a zero in every second byte. */
export function detectUtf16(head: Uint8Array): Encoding | null {
  const pairs = head.length >> 1
  if (pairs < 2) return null
  let evenZeros = 0
  let oddZeros = 0
  for (let at = 0; at + 1 < head.length; at += 2) {
    if (head[at] === 0) evenZeros++
    if (head[at + 1] === 0) oddZeros++
  }
  if (oddZeros > pairs * 0.3 && evenZeros < pairs * 0.02) return 'utf-16le'
  return evenZeros > pairs * 0.3 && oddZeros < pairs * 0.02 ? 'utf-16be' : null
}

const lineFeed = 10
const carriageReturn = 13

const isBreak = (byte: number | undefined): boolean => byte === lineFeed || byte === carriageReturn

/** Collects lines with bytes beyond ASCII. A line that two chunks share is collected from the first such chunk on. */
class ByteSample {
  readonly #bytes = new Uint8Array(enoughSample)
  #length = 0
  #isInLine = false

  get isFull(): boolean {
    return this.#length === enoughSample
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  add(chunk: Uint8Array): void {
    let at = 0
    while (!this.isFull) {
      let start = at
      if (!this.#isInLine) {
        while (at < chunk.length && chunk[at]! < 0x80) at++
        if (at === chunk.length) return
        for (start = at; start > 0 && !isBreak(chunk[start - 1]); start--);
      }
      while (at < chunk.length && !isBreak(chunk[at])) at++
      this.#isInLine = at === chunk.length
      this.#copy(chunk.subarray(start, at + 1))
      if (this.#isInLine) return
    }
  }

  #copy(bytes: Uint8Array): void {
    const part = bytes.subarray(0, enoughSample - this.#length)
    this.#bytes.set(part, this.#length)
    this.#length += part.length
  }
}

/** Reads until the sample is full, which is the whole file where it is plain ASCII. */
async function sampleBeyondAscii(file: FileSource, markLength: number): Promise<ByteSample> {
  const sample = new ByteSample()
  for await (const chunk of file.stream(markLength, file.size - markLength)) {
    sample.add(chunk)
    if (sample.isFull) break
  }
  return sample
}

/**
 * A letter of another script, or of phonetics, beside one of the alphabet comes from two letters of another encoding,
 * as in `RÓŻA` and `MĘŻCZYZNA`. Azerbaijani has one of the phonetic letters. Letters of three bytes, as in `A席`, are
 * what they seem: three letters hardly ever form one.
 */
const strangeLetter = '(?:[^\\P{L}\\p{Script=Latin}\\u{800}-\\u{10ffff}]|[\\u0250-\\u0258\\u025a-\\u02af])'
const mixedScripts = new RegExp(`(?<=[a-z])${strangeLetter}|${strangeLetter}(?=[a-z])`, 'giu')

/** Letters of other encodings hardly ever form a character of UTF-8, so bad bytes beside good ones are mistakes. */
const maxBadShare = 0.8

function isUtf8({ bytes, isFull }: ByteSample): boolean {
  const longest = isFull ? bytes.findLastIndex((byte) => byte < 0x80) + 1 : bytes.length
  const text = decodeText(createDecoder('utf-8'), bytes.subarray(0, longest), 'utf-8')
  const bad = countUndecodable(text) + (text.match(mixedScripts)?.length ?? 0)
  return bad === 0 || bad <= text.replaceAll(/[\0-\x7f]/g, '').length * maxBadShare
}

/** @param likely encodings that win where the text does not decide, such as those of the organisation's country */
function detectSingleByte(sample: Uint8Array, likely: readonly Encoding[]): { encoding: Encoding; confidence: number } {
  const order = [...likely.filter((encoding) => singleByte.includes(encoding)), ...singleByte]
  const readings = new Map<string, { encoding: Encoding; score: number }>()
  for (const encoding of order) {
    const text = createDecoder(encoding).decode(sample)
    if (!readings.has(text)) readings.set(text, { encoding, score: ratePlausibility(text) })
  }
  const [best, second] = Array.from(readings.values()).toSorted((one, other) => other.score - one.score)
  if (!best || best.score <= 0) return { encoding: best?.encoding ?? 'windows-1252', confidence: 0.2 }
  const lead = second ? (best.score - Math.max(0, second.score)) / best.score : 1
  return { encoding: best.encoding, confidence: Math.round((0.5 + 0.49 * lead) * 100) / 100 }
}

/** Programs put the mark of UTF-8 also before text of another encoding, so it does not decide. */
function detectByHead(head: Uint8Array): DetectedEncoding | null {
  const mark = readByteOrderMark(head)
  if (mark && mark.encoding !== 'utf-8') return { encoding: mark.encoding, confidence: 1, markLength: mark.length }
  const utf16 = mark ? null : detectUtf16(head)
  return utf16 && { encoding: utf16, confidence: 0.95, markLength: 0 }
}

function detectBySample(sample: ByteSample, markLength: number, likely: readonly Encoding[]): DetectedEncoding {
  if (isUtf8(sample)) return { encoding: 'utf-8', confidence: 1, markLength }
  return { ...detectSingleByte(sample.bytes, likely), markLength }
}

/** Tries the byte order mark, the zeros of UTF-16, validity as UTF-8, and then letters of Northern Europe. */
export async function detectEncoding(file: FileSource, likely: readonly Encoding[] = []): Promise<DetectedEncoding> {
  const head = await readBytes(file, 0, headLength)
  const markLength = readByteOrderMark(head)?.length ?? 0
  return detectByHead(head) ?? detectBySample(await sampleBeyondAscii(file, markLength), markLength, likely)
}

/** No text contains these characters. Control-Z ends files of old programs and is allowed. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const controls = /[\u0000-\u0008\u000e-\u0019\u001b-\u001f\u007f]/

/** Reads the text at the beginning of a file in any encoding; null for bytes that are not text. */
export function readTextHead(bytes: Uint8Array): string | null {
  const sample = new ByteSample()
  const length = readByteOrderMark(bytes)?.length ?? 0
  sample.add(bytes.subarray(length))
  const { encoding, markLength } = detectByHead(bytes) ?? detectBySample(sample, length, [])
  const text = createDecoder(encoding).decode(bytes.subarray(markLength))
  return controls.test(text) ? null : text
}
