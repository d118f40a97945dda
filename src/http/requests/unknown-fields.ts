import { z } from '@hono/zod-openapi'
import { fieldError, type FieldError, unknownFieldError } from '../../domain/errors.ts'
import { findNearestName } from '../../domain/text/nearest.ts'
import type { Operation } from '../operations/operation.ts'

type AnySchema = z.core.$ZodType
type Shape = Readonly<Record<string, AnySchema>>

/** More than these are not listed: a body may have a hundred thousand names. */
const maxListed = 50

interface Definition {
  type: string
  innerType?: AnySchema
  options?: readonly AnySchema[]
  in?: AnySchema
  out?: AnySchema
}

const definitionOf = (schema: AnySchema): Definition => (schema as unknown as { def: Definition }).def

/** The schemas that a value may match, unwrapped. */
function alternativesOf(schema: AnySchema): AnySchema[] {
  const { type, innerType, options, in: first, out: second } = definitionOf(schema)
  if (innerType) return alternativesOf(innerType)
  if (type === 'union' && options) return options.flatMap(alternativesOf)
  // A preprocessed value is read by the second schema, a transformed one by the first.
  if (first && second) return alternativesOf(definitionOf(first).type === 'transform' ? second : first)
  return [schema]
}

const elementOf = (schema: AnySchema): AnySchema[] =>
  schema instanceof z.ZodArray ? alternativesOf(schema.element) : []

const valueOf = (schema: AnySchema): AnySchema[] =>
  schema instanceof z.ZodRecord ? alternativesOf(schema.valueType) : []

const fieldOf = (shape: Shape, name: string): AnySchema[] =>
  Object.hasOwn(shape, name) && shape[name] ? alternativesOf(shape[name]) : []

const objectsOf = (schemas: readonly AnySchema[]): Shape[] =>
  schemas.flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape as Shape] : []))

/** The objects of a union, without those that cannot have the value's `type`. */
const shapesOf = (schemas: readonly AnySchema[], value: Readonly<Record<string, unknown>>): Shape[] =>
  objectsOf(schemas).filter((shape) =>
    Object.entries(shape).every(
      ([name, field]) =>
        !(field instanceof z.ZodLiteral) || !Object.hasOwn(value, name) || field.values.has(value[name] as string),
    ),
  )

/** Fields that the service answers beside those that it reads. */
export interface AnsweredFields {
  schema: z.ZodType | null
  /** Fields that can be set by another operation, so that dropping them would lose what was asked for. */
  settable: ReadonlySet<string>
}

const nothingAnswered: AnsweredFields = { schema: null, settable: new Set() }

interface BodyValue {
  value: unknown
  path: readonly PropertyKey[]
  reads: readonly AnySchema[]
  answers: readonly AnySchema[]
}

const itemsOf = (items: readonly unknown[], { path, reads, answers }: BodyValue): BodyValue[] => {
  const below = { reads: reads.flatMap(elementOf), answers: answers.flatMap(elementOf) }
  return below.reads.length ? items.map((value, index) => ({ value, path: [...path, index], ...below })) : []
}

/** The fields of one object: nested values to check, and the errors about its names. */
function fieldsOf(object: Readonly<Record<string, unknown>>, place: BodyValue, settable: ReadonlySet<string>) {
  const shapes = shapesOf(place.reads, object)
  const answered = objectsOf(place.answers)
  const values = place.reads.flatMap(valueOf)
  const inside: BodyValue[] = []
  const errors: FieldError[] = []
  if (!shapes.length && !values.length) return { inside, errors }
  for (const [name, value] of Object.entries(object)) {
    const path = [...place.path, name]
    const reads = [...shapes.flatMap((shape) => fieldOf(shape, name)), ...values]
    const answers = answered.flatMap((shape) => fieldOf(shape, name))
    if (reads.length) inside.push({ value, path, reads, answers })
    else if (settable.has(name))
      errors.push(
        fieldError(path, 'unknown_field', 'A new resource does not take this field. Set it afterwards with PATCH.'),
      )
    else if (!answers.length) errors.push(unknownFieldError(path, findNearestName(name, shapes.flatMap(Object.keys))))
    if (errors.length >= maxListed) break
  }
  return { inside, errors }
}

/** Fields of a body that its schema does not have and that no client has read from the resource, at any depth. */
export function unknownFields(
  schema: z.ZodType,
  value: unknown,
  options: { prefix?: readonly PropertyKey[]; answered?: AnsweredFields } = {},
): FieldError[] {
  const { prefix = [], answered = nothingAnswered } = options
  const answers = answered.schema ? alternativesOf(answered.schema) : []
  const found: FieldError[] = []
  const places: BodyValue[] = [{ value, path: prefix, reads: alternativesOf(schema), answers }]
  for (let at = 0; at < places.length && found.length < maxListed; at++) {
    const place = places[at] as BodyValue
    if (Array.isArray(place.value)) for (const item of itemsOf(place.value, place)) places.push(item)
    else if (typeof place.value === 'object' && place.value !== null) {
      const { settable } = at === 0 ? answered : nothingAnswered
      const { inside, errors } = fieldsOf(place.value as Record<string, unknown>, place, settable)
      found.push(...errors)
      for (const field of inside) places.push(field)
    }
  }
  return found.slice(0, maxListed)
}

const shapeOf = (schema: z.ZodType | null | undefined): Shape => (schema instanceof z.ZodObject ? schema.shape : {})

/**
 * Clients read a resource, change a field and send all of it back: what the answer has beside the body is ignored where
 * a body is the whole resource, in changes and where a list's path makes a new one. An action such as duplicating
 * takes no resource.
 */
export function answeredBeside(operations: readonly Operation[], operation: Operation): AnsweredFields {
  if (operation.method === 'patch') return { schema: operation.response, settable: new Set() }
  const isCollection = operations.some(({ method, path }) => method === 'get' && path === operation.path)
  if (operation.method !== 'post' || !isCollection) return nothingAnswered
  const change = operations.find(({ method, path }) => method === 'patch' && path === `${operation.path}/{id}`)
  const own = shapeOf(operation.body)
  const settable = Object.keys(shapeOf(change?.body)).filter((name) => !Object.hasOwn(own, name))
  return { schema: operation.response, settable: new Set(settable) }
}
