import type { Context, Liquid } from 'liquidjs'
import { CaseTag, Token, toValue } from 'liquidjs/dist/liquid.browser.mjs'

/**
 * What takes LiquidJS longer than the text that it makes: charged to the budget of filters, so that templates cannot
 * have much of it.
 */
const costOfDate = 1000
const costOfDateCode = 300
const costOfTimeZone = 4000
const costOfPart = 19

interface Filtering {
  context: Context
}

const sizeOf = (value: unknown): number => {
  const plain: unknown = toValue(value)
  return Array.isArray(plain) ? plain.length : 0
}

function chargeDates(liquid: Liquid): void {
  const { date } = liquid.filters as Record<string, (this: unknown, ...values: unknown[]) => unknown>
  liquid.registerFilter('date', function (this: Filtering, ...values: unknown[]) {
    const [, format, timeZone] = values
    const codes = typeof format === 'string' ? format.split('%').length : 1
    const zone = timeZone === undefined ? 0 : costOfTimeZone
    this.context.memoryLimit.use(costOfDate + codes * costOfDateCode + zone)
    return date?.apply(this, values)
  })
}

function chargeParts(liquid: Liquid): void {
  const { split } = liquid.filters as Record<string, (this: unknown, ...values: unknown[]) => unknown[]>
  liquid.registerFilter('split', function (this: Filtering, ...values: unknown[]) {
    const parts = split?.apply(this, values) ?? []
    this.context.memoryLimit.use(parts.length * costOfPart)
    return parts
  })
}

type Operators = Liquid['options']['operators']
type Operator = (left: unknown, right: unknown, context: Context) => unknown

/** Operators that compare every item of a list, or search one text in another. */
export const chargedOperators = (operators: Operators): Operators =>
  Object.fromEntries(
    Object.entries(operators).map(([name, operator]) => {
      if (['and', 'or', 'not'].includes(name)) return [name, operator]
      const charged: Operator = (left, right, context) => {
        const text = name === 'contains' && typeof left === 'string' ? left.length : 0
        context.memoryLimit.use(sizeOf(left) + sizeOf(right) + text)
        return (operator as Operator)(left, right, context)
      }
      return [name, charged]
    }),
  )

/** The tag that compares its value with many, without calling an operator. */
class SimpleCase extends CaseTag {
  override *render(context: Context, emitter: Parameters<CaseTag['render']>[1]): Generator<unknown, void, unknown> {
    const value: unknown = yield this.value.value(context, context.opts.lenientIf)
    if (sizeOf(value)) throw new Error('`case` goes by a text or a number, not by a list.')
    yield* super.render(context, emitter)
  }
}

export function chargeCosts(liquid: Liquid): void {
  chargeDates(liquid)
  chargeParts(liquid)
  liquid.registerTag('case', SimpleCase)
}

/** Does without the places of tokens: LiquidJS counts each from the beginning of the text. */
export function withoutPlaces<T>(work: () => T): T {
  const place = Object.getOwnPropertyDescriptor(Token.prototype, 'getPosition')
  Token.prototype.getPosition = () => [1, 1]
  try {
    return work()
  } finally {
    if (place) Object.defineProperty(Token.prototype, 'getPosition', place)
  }
}

const maxBrackets = 20

/** Whether an expression has brackets in each other beyond what is read without end. */
export function isTooDeep(expression: string): boolean {
  let depth = 0
  for (const letter of expression) {
    if (letter === '[' || letter === '(') depth++
    else if (letter === ']' || letter === ')') depth--
    if (depth > maxBrackets) return true
  }
  return false
}
