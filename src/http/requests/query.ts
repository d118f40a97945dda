import { z } from '@hono/zod-openapi'
import { AppError, type FieldError, invalid, parameterError, unknownParameterError } from '../../domain/errors.ts'
import { findIdPrefix } from '../../domain/ids.ts'
import { findNearestName } from '../../domain/text/nearest.ts'
import type { AppContext } from '../env.ts'
import { describe } from './validation.ts'

type QueryParameters = ReadonlyMap<string, readonly string[]>

/** Parameters whose values are one list, repeated or separated by commas. */
const repeatable = new Set(['ordering'])

function givenBy(c: AppContext): QueryParameters {
  const given = new Map<string, string[]>()
  for (const [name, value] of new URL(c.req.url).searchParams) given.set(name, [...(given.get(name) ?? []), value])
  return given
}

/** Lists with a fixed page size ignore `page_size`. */
const ignoredBy = (names: readonly string[]): readonly string[] =>
  names.includes('page') && !names.includes('page_size') ? ['page_size'] : []

/** `edition_id` names an edition: an id of another kind would find nothing, or everything, without a word. */
function wrongId(name: string, value: string): FieldError[] {
  const prefix = findIdPrefix(name)
  return prefix === null || value.startsWith(`${prefix}_`)
    ? []
    : [parameterError(name, 'invalid_id', `An id that begins with \`${prefix}_\`.`)]
}

function faultsOf(name: string, values: readonly string[], names: readonly string[]): FieldError[] {
  if (!names.includes(name)) return [unknownParameterError(name, findNearestName(name, names))]
  if (values.length > 1 && !repeatable.has(name))
    return [parameterError(name, 'repeated', `Given ${values.length} times; expected once.`)]
  return values.filter(Boolean).flatMap((value) => wrongId(name, value))
}

/** One text for each name: empty values count as absent, repeated orderings as one list. */
function textsOf(given: QueryParameters): Record<string, string> {
  const texts = [...given].map(([name, values]) => [name, values.filter(Boolean).join(',')] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** The parameters of a request. An unknown parameter and a value that cannot be read are refused by name. */
export function parseQuery<S extends z.ZodType>(c: AppContext, schema: S): z.output<S> {
  const given = givenBy(c)
  for (const [name, values] of given)
    if ([name, ...values].some((text) => text.includes('\0')))
      throw new AppError('malformed_request', 'NUL characters are not text.')
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const ignored = ignoredBy(names)
  const errors = [...given].flatMap(([name, values]) => (ignored.includes(name) ? [] : faultsOf(name, values, names)))
  const result = schema.safeParse(textsOf(given))
  const seen = new Set(errors.map(({ attr }) => attr))
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path.map(String).join('.') || null
    if (!seen.has(name)) errors.push(parameterError(name, ...describe(issue)))
  }
  if (errors.some(({ code }) => code === 'invalid_page')) throw new AppError('invalid_page', 'Invalid page.')
  if (!result.success || errors.length) throw invalid(...errors)
  return result.data
}
