import { readBytes, type FileSource } from '../source.ts'
import { createDecoder, decodeText, type Encoding, readByteOrderMark, undecodable } from './names.ts'
import { ratePlausibility } from './plausibility.ts'

export interface DetectedEncoding {
  encoding: Encoding
  /** From 0 to 1. */
  confidence: number
  /** The length of the byte order mark. */
  markLength: number
  /** Cells beyond ASCII as they are read, when another encoding is nearly as likely. */
  doubtfulTexts?: readonly string[]
}

/** The length of the sample of lines with characters beyond ASCII. */
const enoughSample = 65_536
const headLength = 65_536
/** A text of this length decides between encodings. */
const ratedLength = 16_384
/** The first of two encodings wins when the text does not decide. */
const guessedEncodings: Encoding[] = [
  'windows-1252',
  'windows-1250',
  'iso-8859-15',
  'iso-8859-2',
  'macintosh',
  'cp850',
  'cp437',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'windows-1255',
  'windows-1256',
  'windows-1258',
  'windows-874',
  'koi8-u',
  'koi8-r',
  'ibm866',
  'x-mac-cyrillic',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'shift_jis',
  'gbk',
  'euc-kr',
  'big5',
  'euc-jp',
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
  const wholeLength = isFull ? bytes.findLastIndex((byte) => byte < 0x80) + 1 : bytes.length
  const text = decodeText(bytes.subarray(0, wholeLength), 'utf-8')
  const strangeCount = text.match(mixedScripts)?.length ?? 0
  if (strangeCount === 0 && !text.includes(undecodable)) return true
  const words = text.match(/[^\0-\x7f]+/g) ?? []
  const wordLength = words.reduce((sum, { length }) => sum + length, 0)
  // A character that stands beside a bad byte is a part of another encoding's word.
  const badLength = words.reduce((sum, word) => sum + (word.includes(undecodable) ? word.length : 0), strangeCount)
  return badLength <= wordLength * maxBadShare
}

interface Reading {
  encoding: Encoding
  text: string
  score: number
}

/** Another encoding with a score as near as this may be the right one. */
const doubtfulLead = 0.15
const namesPerDoubt = 3
const maxNameLength = 40

const listNames = (text: string): string[] => {
  const cells = text.split(/[\t\r\n",;|]+/).map((cell) => cell.trim())
  const names = cells.filter((cell) => /[^\0-\x7f]/.test(cell))
  return [...new Set(names)].slice(0, namesPerDoubt).map((name) => name.slice(0, maxNameLength))
}

/** @param likely encodings that win where the text does not decide, such as those of the owner's country */
function detectByLetters(bytes: Uint8Array, likely: readonly Encoding[]): Omit<DetectedEncoding, 'markLength'> {
  const sample = bytes.subarray(0, ratedLength)
  const order = [...likely.filter((encoding) => guessedEncodings.includes(encoding)), ...guessedEncodings]
  const readings = new Map<string, Reading>()
  for (const encoding of order) {
    const text = createDecoder(encoding).decode(sample)
    if (!readings.has(text)) readings.set(text, { encoding, text, score: ratePlausibility(text, encoding) })
  }
  const [bestReading, secondReading] = Array.from(readings.values()).toSorted((one, other) => other.score - one.score)
  if (!bestReading) return { encoding: 'windows-1252', confidence: 0.2 }
  const doubtfulTexts = listNames(bestReading.text)
  if (bestReading.score <= 0) return { encoding: bestReading.encoding, confidence: 0.2, doubtfulTexts }
  const lead = secondReading ? (bestReading.score - Math.max(0, secondReading.score)) / bestReading.score : 1
  const confidence = Math.round((0.5 + 0.49 * lead) * 100) / 100
  return { encoding: bestReading.encoding, confidence, ...(lead < doubtfulLead ? { doubtfulTexts } : {}) }
}

/** Mail programs write Japanese in seven bits: `ESC $ B` begins it. */
export function hasJapaneseEscapes(head: Uint8Array): boolean {
  const at = head.indexOf(0x1b)
  return at >= 0 && head[at + 1] === 0x24 && (head[at + 2] === 0x40 || head[at + 2] === 0x42)
}

/** Programs put the mark of UTF-8 also before text of another encoding, so it does not decide. */
function detectByHead(head: Uint8Array): DetectedEncoding | null {
  const mark = readByteOrderMark(head)
  if (mark && mark.encoding !== 'utf-8') return { encoding: mark.encoding, confidence: 1, markLength: mark.length }
  if (!mark && hasJapaneseEscapes(head)) return { encoding: 'iso-2022-jp', confidence: 0.95, markLength: 0 }
  const utf16 = mark ? null : detectUtf16(head)
  return utf16 && { encoding: utf16, confidence: 0.95, markLength: 0 }
}

function detectBySample(sample: ByteSample, markLength: number, likely: readonly Encoding[]): DetectedEncoding {
  if (isUtf8(sample)) return { encoding: 'utf-8', confidence: 1, markLength }
  return { ...detectByLetters(sample.bytes, likely), markLength }
}

/** Tries the byte order mark, the zeros of UTF-16, validity as UTF-8, and then letters and names. */
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
