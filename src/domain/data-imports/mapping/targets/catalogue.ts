import type { Alias } from './alias.ts'
import { headerKey } from './headers.ts'
import { itemAliases, otherHeaders } from './item-aliases.ts'
import { orderAliases } from './order-aliases.ts'
import { bareNameAliases, personAliases, personWordAliases } from './person-aliases.ts'

const allAliases: readonly Alias[] = [
  ...orderAliases,
  ...itemAliases,
  ...personAliases,
  ...bareNameAliases,
  ...personWordAliases,
]

/** Aliases by what is compared of a header; the first one counts. */
export const aliasesByKey: ReadonlyMap<string, Alias> = new Map(
  allAliases.toReversed().map((alias) => [headerKey(alias.text), alias]),
)

export const otherKeys: ReadonlySet<string> = new Set(otherHeaders.map(headerKey))

/** Aliases of a target as people write them, without those that only differ in punctuation. */
export function aliasTextsOf(target: string): string[] {
  const own = allAliases.filter((alias) => alias.target === target)
  return [...new Map(own.toReversed().map((alias) => [headerKey(alias.text), alias.text])).values()].toReversed()
}
