import type { Context } from 'liquidjs'
import { toValue } from 'liquidjs/dist/liquid.browser.mjs'
import type { FixedText } from '../text/json-pieces.ts'

/** The characters that one rendering may produce: output, captures, and results of filters. */
export const maxRenderedLength = 2_000_000
export const maxRenderedSmsLength = 100_000

export class OverBudget extends Error {
  override name = 'OverBudget'

  constructor(most: number) {
    super(`It makes more than ${most} characters of text.`)
  }
}

/** Shared by all the texts of one rendering. Throws before the text that would exceed it is kept. */
export class Budget {
  readonly most: number
  #left: number

  constructor(most: number) {
    this.most = most
    this.#left = most
  }

  spend(length: number): void {
    if (length > this.#left) throw new OverBudget(this.most)
    if (length > 0) this.#left -= length
  }
}

/** Called by LiquidJS before a filter. Filters have a part of the budget, because they take more time. */
export class Charge {
  readonly budget: Budget
  readonly #filters: Budget

  constructor(budget: Budget, filters: Budget) {
    this.budget = budget
    this.#filters = filters
  }

  use(length: number): void {
    this.#filters.spend(length)
    this.budget.spend(length)
  }

  check(): void {}
}

/** The text of a value, as LiquidJS writes it. */
function written(value: unknown): string {
  const plain: unknown = toValue(value)
  if (typeof plain === 'string') return plain
  if (plain === undefined || plain === null) return ''
  if (Array.isArray(plain)) return plain.map(written).join('')
  // oxlint-disable-next-line typescript/no-base-to-string -- objects are written as LiquidJS writes them
  return String(plain)
}

/** Collects the output of a rendering or a capture, and counts it. */
export class ChargedEmitter {
  buffer = ''
  /** The same output as it was written. */
  readonly pieces: (FixedText | string)[] = []
  readonly #budget: Budget

  constructor({ memoryLimit }: Pick<Context, 'memoryLimit'>) {
    this.#budget = (memoryLimit as unknown as Charge).budget
  }

  write(value: unknown): void {
    const text = written(value)
    this.#keep(text, text)
  }

  /** A text of the template itself. */
  writeFixed(fixed: FixedText): void {
    this.#keep(fixed.text, fixed)
  }

  #keep(text: string, piece: FixedText | string): void {
    this.#budget.spend(text.length)
    this.buffer += text
    this.pieces.push(piece)
  }
}
