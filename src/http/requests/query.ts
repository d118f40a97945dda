import { z } from '@hono/zod-openapi'
import { AppError, type FieldError, invalid, parameterError, unknownParameterError } from '../../domain/errors.ts'
import { findIdPrefix } from '../../domain/ids.ts'
import { findNearestName } from '../../domain/text/nearest.ts'
import type { AppContext } from '../env.ts'
import { describeIssue } from './validation.ts'

type QueryParameters = ReadonlyMap<string, readonly string[]>

/** Parameters that can be repeated. */
const repeatable = new Set(['ordering'])

function readParameters(c: AppContext): QueryParameters {
  const parameters = new Map<string, string[]>()
  for (const [name, value] of new URL(c.req.url).searchParams)
    parameters.set(name, [...(parameters.get(name) ?? []), value])
  return parameters
}

/** Lists with a fixed page size ignore `page_size`. */
const listIgnored = (names: readonly string[]): readonly string[] =>
  names.includes('page') && !names.includes('page_size') ? ['page_size'] : []

/** Refuses an id of another kind, for example in `edition_id`. Otherwise the list would silently be empty. */
function checkIdKind(name: string, value: string): FieldError[] {
  const prefix = findIdPrefix(name)
  return prefix === null || value.startsWith(`${prefix}_`)
    ? []
    : [parameterError(name, 'invalid_id', `Must be an id that begins with \`${prefix}_\`.`)]
}

function checkParameter(name: string, values: readonly string[], names: readonly string[]): FieldError[] {
  if (!names.includes(name)) return [unknownParameterError(name, findNearestName(name, names))]
  if (values.length > 1 && !repeatable.has(name))
    return [parameterError(name, 'repeated', `This parameter is sent ${values.length} times. Send it once.`)]
  return values.filter(Boolean).flatMap((value) => checkIdKind(name, value))
}

/** One text for each parameter. Empty values count as absent, and repeated orderings are joined. */
function joinValues(parameters: QueryParameters): Record<string, string> {
  const texts = [...parameters].map(([name, values]) => [name, values.filter(Boolean).join(',')] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** An address can have thousands of unknown parameters. */
const maxErrors = 50

/** Parses the query parameters. Throws for unknown parameters and invalid values. */
export function parseQuery<S extends z.ZodType>(c: AppContext, schema: S): z.output<S> {
  const parameters = readParameters(c)
  for (const [name, values] of parameters)
    if ([name, ...values].some((text) => text.includes('\0')))
      throw new AppError('malformed_request', 'Query parameters must not contain NUL characters.')
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const ignoredNames = listIgnored(names)
  const errors: FieldError[] = []
  for (const [name, values] of parameters) {
    if (errors.length >= maxErrors) break
    if (!ignoredNames.includes(name)) errors.push(...checkParameter(name, values, names).slice(0, maxErrors))
  }
  const result = schema.safeParse(joinValues(parameters))
  const reportedNames = new Set(errors.map(({ attr }) => attr))
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path.map(String).join('.') || null
    if (!reportedNames.has(name)) errors.push(parameterError(name, ...describeIssue(issue)))
  }
  if (errors.some(({ code }) => code === 'invalid_page'))
    throw new AppError(
      'invalid_page',
      'There is no such page. `page` must be a whole number from 1 to the last page of the list.',
    )
  if (!result.success || errors.length) throw invalid(...errors)
  return result.data
}
