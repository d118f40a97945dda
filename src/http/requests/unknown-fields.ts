import { z } from '@hono/zod-openapi'
import { fieldError, type FieldError, unknownFieldError } from '../../domain/errors.ts'
import { findNearestName } from '../../domain/text/nearest.ts'
import type { Operation } from '../operations/operation.ts'

type AnySchema = z.core.$ZodType
type Shape = Readonly<Record<string, AnySchema>>

/** At most this many errors are reported, because a body can have a hundred thousand unknown names. */
const maxErrors = 50

interface Definition {
  type: string
  innerType?: AnySchema
  options?: readonly AnySchema[]
  in?: AnySchema
  out?: AnySchema
}

const getDefinition = (schema: AnySchema): Definition => (schema as unknown as { def: Definition }).def

/** The schemas that a value can match, without wrappers such as `optional`. */
function listAlternatives(schema: AnySchema): AnySchema[] {
  const { type, innerType, options, in: first, out: second } = getDefinition(schema)
  if (innerType) return listAlternatives(innerType)
  if (type === 'union' && options) return options.flatMap(listAlternatives)
  // A preprocessed value is read by the second schema, a transformed one by the first.
  if (first && second) return listAlternatives(getDefinition(first).type === 'transform' ? second : first)
  return [schema]
}

const listElementSchemas = (schema: AnySchema): AnySchema[] =>
  schema instanceof z.ZodArray ? listAlternatives(schema.element) : []

const listValueSchemas = (schema: AnySchema): AnySchema[] =>
  schema instanceof z.ZodRecord ? listAlternatives(schema.valueType) : []

const listFieldSchemas = (shape: Shape, name: string): AnySchema[] =>
  Object.hasOwn(shape, name) && shape[name] ? listAlternatives(shape[name]) : []

const listObjectShapes = (schemas: readonly AnySchema[]): Shape[] =>
  schemas.flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape as Shape] : []))

/** The object shapes that fit the value's literal fields, such as `type`. */
const listMatchingShapes = (schemas: readonly AnySchema[], value: Readonly<Record<string, unknown>>): Shape[] =>
  listObjectShapes(schemas).filter((shape) =>
    Object.entries(shape).every(
      ([name, field]) =>
        !(field instanceof z.ZodLiteral) || !Object.hasOwn(value, name) || field.values.has(value[name] as string),
    ),
  )

/** Fields that a body may contain although the operation does not read them. */
export interface IgnoredFields {
  /** Fields of the response are ignored. */
  schema: z.ZodType | null
  /** Fields that only another operation sets. They are refused, because ignoring them would lose what the client wants. */
  settable: ReadonlySet<string>
}

const noIgnoredFields: IgnoredFields = { schema: null, settable: new Set() }

interface BodyValue {
  value: unknown
  path: readonly PropertyKey[]
  /** Schemas of the request at this path. */
  requestSchemas: readonly AnySchema[]
  /** Schemas of the response at this path. */
  responseSchemas: readonly AnySchema[]
}

const listItems = (items: readonly unknown[], { path, requestSchemas, responseSchemas }: BodyValue): BodyValue[] => {
  const below = {
    requestSchemas: requestSchemas.flatMap(listElementSchemas),
    responseSchemas: responseSchemas.flatMap(listElementSchemas),
  }
  return below.requestSchemas.length ? items.map((value, index) => ({ value, path: [...path, index], ...below })) : []
}

/** Checks the names of one object. Returns the errors, and the nested values to check next. */
function checkFields(object: Readonly<Record<string, unknown>>, place: BodyValue, settable: ReadonlySet<string>) {
  const shapes = listMatchingShapes(place.requestSchemas, object)
  const returnedShapes = listMatchingShapes(place.responseSchemas, object)
  const values = place.requestSchemas.flatMap(listValueSchemas)
  const nestedValues: BodyValue[] = []
  const errors: FieldError[] = []
  if (!shapes.length && !values.length) return { nestedValues, errors }
  for (const [name, value] of Object.entries(object)) {
    const path = [...place.path, name]
    const acceptedSchemas = [...shapes.flatMap((shape) => listFieldSchemas(shape, name)), ...values]
    const returnedSchemas = returnedShapes.flatMap((shape) => listFieldSchemas(shape, name))
    if (acceptedSchemas.length)
      nestedValues.push({ value, path, requestSchemas: acceptedSchemas, responseSchemas: returnedSchemas })
    else if (settable.has(name))
      errors.push(
        fieldError(
          path,
          'unknown_field',
          'This field cannot be set when the resource is created. Set it afterwards with PATCH.',
        ),
      )
    else if (!returnedSchemas.length)
      errors.push(unknownFieldError(path, findNearestName(name, shapes.flatMap(Object.keys))))
    if (errors.length >= maxErrors) break
  }
  return { nestedValues, errors }
}

/** Reports fields, at any depth, that are neither in the schema of the body nor in the response. */
export function findUnknownFields(
  schema: z.ZodType,
  value: unknown,
  options: { prefix?: readonly PropertyKey[]; ignoredFields?: IgnoredFields } = {},
): FieldError[] {
  const { prefix = [], ignoredFields = noIgnoredFields } = options
  const returnedShapes = ignoredFields.schema ? listAlternatives(ignoredFields.schema) : []
  const allErrors: FieldError[] = []
  const places: BodyValue[] = [
    { value, path: prefix, requestSchemas: listAlternatives(schema), responseSchemas: returnedShapes },
  ]
  for (let index = 0; index < places.length && allErrors.length < maxErrors; index++) {
    const place = places[index] as BodyValue
    if (Array.isArray(place.value)) for (const item of listItems(place.value, place)) places.push(item)
    else if (typeof place.value === 'object' && place.value !== null) {
      const { settable } = index === 0 ? ignoredFields : noIgnoredFields
      const { nestedValues, errors } = checkFields(place.value as Record<string, unknown>, place, settable)
      allErrors.push(...errors)
      for (const field of nestedValues) places.push(field)
    }
  }
  return allErrors.slice(0, maxErrors)
}

const getShape = (schema: z.ZodType | null | undefined): Shape => (schema instanceof z.ZodObject ? schema.shape : {})

/**
 * Clients read a resource, change a field and send everything back. So a change, and a POST to the path of a list, ignore
 * the other fields of the resource. An action such as duplicating ignores none.
 */
export function findIgnoredFields(operations: readonly Operation[], operation: Operation): IgnoredFields {
  if (operation.method === 'patch') return { schema: operation.response, settable: new Set() }
  const isCollection = operations.some(({ method, path }) => method === 'get' && path === operation.path)
  if (operation.method !== 'post' || !isCollection) return noIgnoredFields
  const change = operations.find(({ method, path }) => method === 'patch' && path === `${operation.path}/{id}`)
  const ownShape = getShape(operation.body)
  const settable = Object.keys(getShape(change?.body)).filter((name) => !Object.hasOwn(ownShape, name))
  return { schema: operation.response, settable: new Set(settable) }
}
