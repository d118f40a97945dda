import type { z } from '@hono/zod-openapi'
import { AppError, type FieldError, fieldError, invalid } from '../../domain/errors.ts'
import { isSameJson } from '../../domain/text/json.ts'
import { type AnsweredFields, unknownFields } from './unknown-fields.ts'

type Issue = z.core.$ZodIssue

/** The most faults that a refusal lists: a body may have a hundred thousand. */
const maxListed = 100

const formatCodes: Readonly<Record<string, string>> = {
  email: 'invalid_email',
  datetime: 'invalid_date',
  starts_with: 'invalid_id',
}

/** The stable code and the text for a fault that zod found. */
export function describe(issue: Issue): [code: string, detail: string] {
  switch (issue.code) {
    case 'invalid_type':
      return ['invalid_type', `Expected ${issue.expected}.`]
    case 'invalid_value':
      return ['invalid_choice', `One of ${issue.values.map(String).join(', ')}.`]
    case 'too_big':
      if (issue.origin === 'string') return ['max_length', `At most ${issue.maximum} characters.`]
      return issue.origin === 'array'
        ? ['max_items', `At most ${issue.maximum} items.`]
        : ['max_value', `At most ${issue.maximum}.`]
    case 'too_small':
      if (issue.origin === 'string')
        return issue.minimum === 1
          ? ['blank', 'May not be blank.']
          : ['min_length', `At least ${issue.minimum} characters.`]
      return issue.origin === 'array'
        ? ['min_items', `At least ${issue.minimum} ${issue.minimum === 1 ? 'item' : 'items'}.`]
        : ['min_value', `At least ${issue.minimum}.`]
    case 'invalid_format':
      return [formatCodes[issue.format] ?? 'invalid', issue.message]
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? ['invalid_choice', `One of ${issue.options.map(String).join(', ')}.`]
        : ['invalid', issue.message]
    case 'custom':
      return [String(issue.params?.['code'] ?? 'invalid'), issue.message]
    default:
      return ['invalid', issue.message]
  }
}

/** `input` distinguishes a missing field from a null one, which zod reports alike. */
function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[step] : undefined,
    input,
  )
}

/** The faults of `input`; `prefix` is its pointer in the body. */
export function fieldErrors(error: z.ZodError, input: unknown, prefix: readonly PropertyKey[] = []): FieldError[] {
  return error.issues.map((issue) => {
    const path = [...prefix, ...issue.path]
    const value = valueAt(input, issue.path)
    if (value === undefined && issue.path.length) return fieldError(path, 'required', 'This field is required.')
    if (value === null) return fieldError(path, 'null', 'May not be null.')
    return fieldError(path, ...describe(issue))
  })
}

/** All faults of `input`: those of its fields, and unknown names. */
const faultsOf = (schema: z.ZodType, error: z.ZodError | undefined, input: unknown, answered?: AnsweredFields) => [
  ...(error ? fieldErrors(error, input) : []),
  ...unknownFields(schema, input, answered ? { answered } : {}),
]

export interface BodyContext {
  answered: AnsweredFields
  /** The resource as clients read it. Fields that are answered in another form than they are set come back in that form. */
  current?: (() => unknown) | undefined
}

/** The body without invalid fields that equal the fields of the answered resource. */
function withoutUnchanged(
  error: z.ZodError,
  input: Readonly<Record<string, unknown>>,
  current: () => unknown,
): Record<string, unknown> | null {
  const answer = current() as Record<string, unknown> | undefined
  const isUnchanged = (name: PropertyKey | undefined): boolean =>
    typeof name === 'string' &&
    Object.hasOwn(input, name) &&
    answer !== undefined &&
    Object.hasOwn(answer, name) &&
    isSameJson(JSON.stringify(input[name]), JSON.stringify(answer[name]) ?? 'null')
  const names = new Set(error.issues.map((issue) => issue.path[0]).filter(isUnchanged))
  return names.size ? Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))) : null
}

/** The parsed body, or a `validation_error` that points at every field. */
export function parseBody<S extends z.ZodType>(
  schema: S,
  input: Readonly<Record<string, unknown>>,
  context?: BodyContext,
): z.output<S> {
  const first = schema.safeParse(input)
  const rest = first.success || !context?.current ? null : withoutUnchanged(first.error, input, context.current)
  const result = rest ? schema.safeParse(rest) : first
  const errors = faultsOf(schema, result.error, rest ?? input, context?.answered)
  if (errors.length > maxListed)
    throw new AppError('validation_error', `${errors.length} fields are invalid. The first ${maxListed} are listed.`, {
      errors: errors.slice(0, maxListed),
    })
  if (!result.success || errors.length) throw invalid(...errors)
  return result.data
}
