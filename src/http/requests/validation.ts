import type { z } from '@hono/zod-openapi'
import { AppError, describeErrors, type FieldError, fieldError, invalid } from '../../domain/errors.ts'
import { isSameJson } from '../../domain/text/json.ts'
import { type IgnoredFields, findUnknownFields } from './unknown-fields.ts'

type Issue = z.core.$ZodIssue

/** At most this many errors are reported, because a body can have a hundred thousand. */
const maxErrors = 100

const formatCodes: Readonly<Record<string, string>> = {
  email: 'invalid_email',
  date: 'invalid_date',
  datetime: 'invalid_date',
  starts_with: 'invalid_id',
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object with a value for each name',
  string: 'a text',
}

/** The name of a value's type in JSON; null for an absent value. */
const nameValue = (value: unknown): string | null => typeNames[Array.isArray(value) ? 'array' : typeof value] ?? null

function describeType(expectedType: string, value: unknown): string {
  const [name, actualName] = [typeNames[expectedType] ?? expectedType, nameValue(value)]
  return actualName === null || actualName === name ? `Must be ${name}.` : `Must be ${name}, and this is ${actualName}.`
}

/** The stable code and the text of an issue that zod reports about `value`. */
export function describeIssue(issue: Issue, value?: unknown): [code: string, detail: string] {
  switch (issue.code) {
    case 'invalid_type':
      return ['invalid_type', describeType(issue.expected, value)]
    case 'invalid_value':
      return ['invalid_choice', `Must be one of ${issue.values.map(String).join(', ')}.`]
    case 'too_big':
      if (issue.origin === 'string') return ['max_length', `Must have at most ${issue.maximum} characters.`]
      return issue.origin === 'array'
        ? ['max_items', `Must have at most ${issue.maximum} items.`]
        : ['max_value', `Must be at most ${issue.maximum}.`]
    case 'too_small':
      if (issue.origin === 'string')
        return issue.minimum === 1
          ? ['blank', 'Must not be blank.']
          : ['min_length', `Must have at least ${issue.minimum} characters.`]
      return issue.origin === 'array'
        ? ['min_items', `Must have at least ${issue.minimum} ${issue.minimum === 1 ? 'item' : 'items'}.`]
        : ['min_value', `Must be at least ${issue.minimum}.`]
    case 'invalid_format':
      return [formatCodes[issue.format] ?? 'invalid', issue.message]
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? ['invalid_choice', `Must be one of ${issue.options.map(String).join(', ')}.`]
        : ['invalid', issue.message]
    case 'custom':
      return [String(issue.params?.['code'] ?? 'invalid'), issue.message]
    default:
      return ['invalid', issue.message]
  }
}

/** Zod reports a missing field and a null field alike, so the input is read again. */
function getValue(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[step] : undefined,
    input,
  )
}

/** The errors of `input`, which stands at `prefix` in the body. */
export function listFieldErrors(error: z.ZodError, input: unknown, prefix: readonly PropertyKey[] = []): FieldError[] {
  return error.issues.map((issue) => {
    const path = [...prefix, ...issue.path]
    const value = getValue(input, issue.path)
    if (value === undefined && issue.path.length) return fieldError(path, 'required', 'This field is required.')
    if (value === null) return fieldError(path, 'null', 'Must not be null.')
    return fieldError(path, ...describeIssue(issue, value))
  })
}

/** All errors of `input`, with its unknown fields. */
const listErrors = (
  schema: z.ZodType,
  error: z.ZodError | undefined,
  input: unknown,
  ignoredFields?: IgnoredFields,
) => [
  ...(error ? listFieldErrors(error, input) : []),
  ...findUnknownFields(schema, input, ignoredFields ? { ignoredFields } : {}),
]

export interface BodyContext {
  ignoredFields: IgnoredFields
  /** Presents the resource. A field that is read in another form than it is set can be sent back. */
  presentResource?: (() => unknown) | undefined
}

/** Drops invalid fields that the client sends back as it has read them. Null: there are none. */
function dropUnchanged(
  error: z.ZodError,
  input: Readonly<Record<string, unknown>>,
  presentResource: () => unknown,
): Record<string, unknown> | null {
  const resource = presentResource() as Record<string, unknown> | undefined
  const isUnchanged = (name: PropertyKey | undefined): boolean =>
    typeof name === 'string' &&
    Object.hasOwn(input, name) &&
    resource !== undefined &&
    Object.hasOwn(resource, name) &&
    isSameJson(JSON.stringify(input[name]), JSON.stringify(resource[name]) ?? 'null')
  const names = new Set(error.issues.map((issue) => issue.path[0]).filter(isUnchanged))
  return names.size ? Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))) : null
}

/** Parses a body, or throws a `validation_error` about every faulty field. */
export function parseBody<S extends z.ZodType>(
  schema: S,
  input: Readonly<Record<string, unknown>>,
  context?: BodyContext,
): z.output<S> {
  const strictResult = schema.safeParse(input)
  const remainingErrors =
    strictResult.success || !context?.presentResource
      ? null
      : dropUnchanged(strictResult.error, input, context.presentResource)
  const result = remainingErrors ? schema.safeParse(remainingErrors) : strictResult
  const errors = listErrors(schema, result.error, remainingErrors ?? input, context?.ignoredFields)
  if (errors.length > maxErrors)
    throw new AppError('validation_error', describeErrors(errors, maxErrors), { errors: errors.slice(0, maxErrors) })
  if (!result.success || errors.length) throw invalid(...errors)
  return result.data
}
