import { findNearest } from '../../text/nearest.ts'
import { fieldsOfObject, variableNamed, variables } from '../catalogue.ts'
import { functions } from '../functions.ts'
import { isList, type ObjectName, type Type } from '../types.ts'
import { capital, quoted, wordsOf } from './words.ts'

/** Names that people bring from elsewhere, by the variable that is meant. */
const variableAliases: Readonly<Record<string, string>> = {
  today: 'now',
  current_date: 'now',
  current_timestamp: 'now',
  customer: 'user',
  person: 'user',
  contact: 'user',
  tickets: 'purchases',
  ticket: 'purchases',
  products: 'purchases',
  product: 'purchases',
  items: 'purchases',
  event: 'edition',
}

const constants: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  none: 'null',
  nil: 'null',
  undefined: 'null',
}

const fieldAliases: Readonly<Record<string, readonly string[]>> = {
  name: ['first_name', 'product_name'],
  mail: ['email'],
  language: ['locale'],
  amount: ['amount_minor'],
  total: ['amount_minor', 'total_spent_minor'],
  price: ['price_paid_minor', 'amount_minor'],
  spent: ['total_spent_minor'],
  created_at: ['created', 'date_joined'],
  sent: ['received'],
  given: ['is_current'],
}

const functionAliases: Readonly<Record<string, string>> = {
  count: 'size',
  len: 'size',
  length: 'size',
  includes: 'contains',
  include: 'contains',
  indexof: 'contains',
  beginswith: 'startsWith',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
  lower: 'lowerAscii',
  tolower: 'lowerAscii',
  tolowercase: 'lowerAscii',
  upper: 'upperAscii',
  toupper: 'upperAscii',
  touppercase: 'upperAscii',
  any: 'exists',
  some: 'exists',
  find: 'exists',
  every: 'all',
  where: 'filter',
  year: 'getFullYear',
  getyear: 'getFullYear',
  month: 'getMonth',
  day: 'getDate',
  getday: 'getDayOfWeek',
  hour: 'getHours',
  date: 'timestamp',
  datetime: 'timestamp',
  interval: 'duration',
  number: 'int',
  float: 'double',
  str: 'string',
  tostring: 'string',
}

const sums = ['sum', 'avg', 'average', 'min', 'max', 'total']
const logical: Readonly<Record<string, string>> = {
  not: 'There is no function `not`: use `!`.',
  and: 'There is no function `and`: put `&&` between the conditions.',
  or: 'There is no function `or`: put `||` between the conditions.',
  if: 'There is no function `if`: a choice is written `condition ? yes : no`.',
  iif: 'There is no function `iif`: a choice is written `condition ? yes : no`.',
  coalesce: 'There is no function `coalesce`: write `value != null ? value : other`.',
  today: 'There is no function `today`: `now` is the time of the calculation.',
}

const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const didYouMean = (name: string): string => ` Did you mean \`${name}\`?`

const closest = (name: string, candidates: readonly string[]): string | null =>
  findNearest(name, candidates, (candidate) => [candidate])

/** The place of a field that was named without its object. */
function ownerOf(name: string): string | null {
  const paths = variables.flatMap(({ fields }) => fields).filter((field) => field.name === name)
  const path = paths.find((field) => !field.path.includes('[]') && !field.path.includes('<'))?.path
  return path ?? null
}

export function unknownVariable(name: string, elements: readonly string[]): string {
  const lower = name.toLowerCase()
  const constant = own(constants, lower)
  const none = `There is no variable \`${name}\`.`
  if (constant) return `${none} Write \`${constant}\`.`
  const owner = ownerOf(name)
  if (owner) return none + didYouMean(owner)
  const names = [...elements, ...variables.map((variable) => variable.name)]
  const meant = own(variableAliases, lower) ?? closest(name, names)
  return meant ? none + didYouMean(meant) : `${none} A text stands in quotes: \`"${name}"\`.`
}

/** The field of an object that was meant. */
function meantField(object: ObjectName, name: string): string | null {
  const known = fieldsOfObject(object)
  const alias = own(fieldAliases, name.toLowerCase())?.find((field) => known.has(field))
  return alias ?? closest(name, [...known.keys()])
}

export function unknownField(object: ObjectName, name: string): string {
  const meant = meantField(object, name)
  const none = `${capital(wordsOf(object))} ${object === 'stats' || object === 'campaigns' || object === 'consents' ? 'have' : 'has'} no field \`${name}\`.`
  return meant ? none + didYouMean(meant) : `${none} Known are ${[...fieldsOfObject(object).keys()].join(', ')}.`
}

/** A field of a value without fields: a list, a text, a number. `text` is what is before the point. */
export function fieldOfNothing(type: Type, text: string, name: string): string {
  const none = `${capital(wordsOf(type))} has no fields.`
  const method = functions.find((one) => one.name === name && one.signature.includes('.'))
  if (method) return `\`${name}\` is a function: write \`.${name}(…)\`.`
  if (name === 'size' || own(functionAliases, name.toLowerCase()) === 'size')
    return `${none} ${quoted(text) ? `Write \`size(${text})\`.` : 'Count it with `size(…)`.'}`
  if (!isList(type) || typeof type.list !== 'string') return none
  const field = fieldsOfObject(type.list as ObjectName).size ? meantField(type.list as ObjectName, name) : null
  if (!field) return none
  const variable = text.charAt(0)
  return `${none} Ask its elements: \`${quoted(text) ? text : '…'}.exists(${variable}, ${variable}.${field} == …)\`.`
}

const methods = functions.filter(({ signature }) => /^\w+\.\w+\(/.test(signature)).map(({ name }) => name)
const globals = functions.filter(({ signature }) => /^\w+\(/.test(signature)).map(({ name }) => name)

/** A call of an unknown function, or in a wrong form; `receiver` is what is before the point. */
export function unknownFunction(name: string, call: { receiver: string | null; args: readonly string[] }): string {
  const { receiver, args } = call
  const lower = name.toLowerCase()
  const none = `There is no function \`${name}\`.`
  if (!receiver && own(logical, lower)) return own(logical, lower) ?? none
  if (!receiver && variableNamed(lower)) return `\`${lower}\` is no function: write \`${lower}\`.`
  if (sums.includes(lower))
    return `${none} Lists are not added up: \`stats\` has \`order_count\` and \`total_spent_minor\`.`
  if (receiver && name === 'has' && args.length) return `\`has\` takes a field. Did you mean \`contains\`?`
  if (receiver && globals.includes(name) && !methods.includes(name))
    return `\`${name}\` stands before its value: write ${quoted(`${name}(${receiver})`) ?? `\`${name}(…)\``}.`
  if (!receiver && methods.includes(name) && args.length) {
    const form = quoted(`${args[0]}.${name}(${args.slice(1).join(', ')})`)
    return `\`${name}\` stands after a point: write ${form ?? `\`.${name}(…)\``}.`
  }
  if (methods.includes(name) || globals.includes(name)) {
    const signatures = functions.filter((one) => one.name === name).map(({ signature }) => `\`${signature}\``)
    return `\`${name}\` does not take these arguments. It is ${signatures.join(' or ')}.`
  }
  const meant = own(functionAliases, lower) ?? closest(name, [...new Set([...methods, ...globals])])
  return meant ? none + didYouMean(meant) : none
}
