import type { Language } from '../../languages.ts'
import { formatDate } from '../messages/phrases.ts'

/** LiquidJS's interface of values that compare themselves, which `blank` and `empty` implement as well. */
interface Comparable {
  equals: (other: unknown) => unknown
  gt: (other: unknown) => unknown
  geq: (other: unknown) => unknown
  lt: (other: unknown) => unknown
  leq: (other: unknown) => unknown
}

const isComparable = (value: unknown): value is Comparable =>
  typeof value === 'object' && value !== null && 'equals' in value && 'geq' in value

const maxCachedFormats = 50

/**
 * A date of an edition, an order or a refund in a message. Templates read it as its text; the filter `date` alone reads
 * the time. It has no fields of its own, because templates can read those.
 */
export class LocalDate implements Comparable {
  readonly #at: number
  readonly #language: Language
  readonly #timeZone: string
  readonly #style: 'day' | 'minute'
  #text: string | undefined
  /** Texts that `date` has written, because recipients of a campaign share the dates of its edition. */
  readonly #formats = new Map<string, string>()

  constructor(at: number, language: Language, timeZone: string, style: 'day' | 'minute') {
    this.#at = at
    this.#language = language
    this.#timeZone = timeZone
    this.#style = style
  }

  toString(): string {
    this.#text ??= formatDate(this.#at, this.#language, this.#timeZone, this.#style)
    return this.#text
  }

  /** Writes the date in a format of `date`, or returns what was written before. */
  write(format: string, formatAt: (at: number, timeZone: string) => string): string {
    const cachedText = this.#formats.get(format)
    if (cachedText !== undefined) return cachedText
    const text = formatAt(this.#at, this.#timeZone)
    if (this.#formats.size < maxCachedFormats) this.#formats.set(format, text)
    return text
  }

  get size(): number {
    return this.toString().length
  }

  /** LiquidJS calls this method for `contains`. */
  indexOf(text: unknown): number {
    return this.toString().indexOf(String(text))
  }

  equals(other: unknown): unknown {
    return isComparable(other) ? other.equals(this.toString()) : other === this.toString()
  }

  gt(other: unknown): unknown {
    return isComparable(other) ? other.lt(this.toString()) : this.toString() > (other as string)
  }

  geq(other: unknown): unknown {
    return isComparable(other) ? other.leq(this.toString()) : this.toString() >= (other as string)
  }

  lt(other: unknown): unknown {
    return isComparable(other) ? other.gt(this.toString()) : this.toString() < (other as string)
  }

  leq(other: unknown): unknown {
    return isComparable(other) ? other.geq(this.toString()) : this.toString() <= (other as string)
  }
}

/** A date for templates; empty for null. */
export const toLocalDate = (
  at: number | null,
  language: Language,
  timeZone: string,
  style: 'day' | 'minute',
): LocalDate | '' => (at === null ? '' : new LocalDate(at, language, timeZone, style))
