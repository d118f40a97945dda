import type { z } from '@hono/zod-openapi'
import { AppError, type FieldError, fieldError, invalid, parameterError } from '../domain/errors.ts'

type Issue = z.core.$ZodIssue

/** The stable code and the plain words of what zod found. */
function describe(issue: Issue): [code: string, detail: string] {
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
        ? ['min_items', `At least ${issue.minimum} items.`]
        : ['min_value', `At least ${issue.minimum}.`]
    case 'invalid_format':
      return [
        issue.format === 'email' ? 'invalid_email' : issue.format === 'datetime' ? 'invalid_date' : 'invalid',
        issue.message,
      ]
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

/** `input` tells a missing field from a null one, which zod reports alike. */
function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      value !== null && typeof value === 'object' ? (value as Record<PropertyKey, unknown>)[step] : undefined,
    input,
  )
}

/** What is wrong with `input`; `prefix` leads to it inside the body. */
export function fieldErrors(error: z.ZodError, input: unknown, prefix: readonly PropertyKey[] = []): FieldError[] {
  return error.issues.map((issue) => {
    const path = [...prefix, ...issue.path]
    const value = valueAt(input, issue.path)
    if (value === undefined && issue.path.length) return fieldError(path, 'required', 'This field is required.')
    if (value === null) return fieldError(path, 'null', 'May not be null.')
    return fieldError(path, ...describe(issue))
  })
}

/** The parsed body, or a `validation_error` that points at every field. */
export function parseBody<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input)
  if (!result.success) throw invalid(...fieldErrors(result.error, input))
  return result.data
}

export function parseQuery<S extends z.ZodType>(schema: S, input: Record<string, unknown>): z.output<S> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const errors = result.error.issues.map((issue) => {
    const [code, detail] = describe(issue)
    return parameterError(issue.path.map(String).join('.') || null, code, detail)
  })
  if (errors.some((error) => error.code === 'invalid_page')) throw new AppError('invalid_page', 'Invalid page.')
  throw invalid(...errors)
}
