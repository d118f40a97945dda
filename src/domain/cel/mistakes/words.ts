import { isList, type ListType, type Type } from '../types.ts'

type Simple = Exclude<Type, ListType>

const single: Record<Simple, string> = {
  bool: 'true or false',
  int: 'a whole number',
  double: 'a decimal number',
  string: 'a text',
  timestamp: 'a time',
  duration: 'a length of time',
  null: 'null',
  json: 'a value of metadata',
  never: 'nothing',
  user: 'the user',
  order: 'an order',
  purchase: 'a purchase',
  consents: 'the consents',
  consent: 'a consent',
  stats: 'the stats',
  campaigns: 'the campaigns',
  edition: 'the edition',
}

const several: Partial<Record<Simple, string>> = {
  bool: 'truth values',
  int: 'whole numbers',
  double: 'decimal numbers',
  string: 'texts',
  timestamp: 'times',
  duration: 'lengths of time',
  json: 'values of metadata',
  order: 'orders',
  purchase: 'purchases',
}

/** A type as a person says it: `a text`, `a list of orders`. */
export function wordsOf(type: Type): string {
  if (!isList(type)) return single[type]
  if (type.list === 'never') return 'an empty list'
  return `a list of ${isList(type.list) ? 'lists' : (several[type.list] ?? single[type.list])}`
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Text of the source as it goes into a message; what is long is left out. */
export const quoted = (text: string): string | null => (text.length <= 60 && !/[`\n]/.test(text) ? `\`${text}\`` : null)
