import { operations as all } from '../../src/app.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { call, callWith, type Reply, type Request } from './api.ts'
import { samples } from './samples/index.ts'
import type { Sample, SampleOf } from './samples/sample.ts'
import type { Person, World } from './world.ts'

export const implemented = all as readonly Operation[]

export const getSample = (operation: Operation): SampleOf => {
  const sample = samples[operation.id]
  if (!sample) throw new Error(`${operation.id} has no sample in test/support/samples`)
  return sample
}

export const make = async (operation: Operation, world: World, caller: Person): Promise<Sample> =>
  getSample(operation).make(world, caller)

const shared = new WeakMap<World, Map<string, Sample | Promise<Sample>>>()

/**
 * Makes a sample once for requests that change nothing: reads, and requests that are refused. Samples without a caller
 * are shared by all callers.
 */
export async function sharedSample(operation: Operation, world: World, caller: Person): Promise<Sample> {
  const { make: makeSample } = getSample(operation)
  const worldSamples = shared.get(world) ?? new Map<string, Sample | Promise<Sample>>()
  shared.set(world, worldSamples)
  const key = makeSample.length < 2 ? operation.id : `${operation.id} ${caller.account}`
  const sample = worldSamples.get(key) ?? makeSample(world, caller)
  worldSamples.set(key, sample)
  return sample
}

/** Operations that need a token, and take an Idempotency-Key if they write. */
export const guarded = implemented.filter(({ isPublic }) => !isPublic)
export const writes = guarded.filter((operation) => operation.scope === 'write')
export const reads = guarded.filter((operation) => operation.scope === 'read')
export const withBody = implemented.filter((operation) => operation.body !== null && operation.stream === null)

/** A list is an operation whose answer is a list envelope. */
export const lists = implemented.filter((operation) => {
  const shape = (operation.response as { shape?: object } | null)?.shape
  return operation.method === 'get' && shape !== undefined && 'results' in shape && 'count' in shape
})

export function buildPath(operation: Operation, sample: Sample): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = sample.path?.[name]
    if (value === undefined) throw new Error(`The sample of ${operation.id} has no ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams(sample.query).toString()
  return query ? `${path}?${query}` : path
}

/** Copies `old` with the value at the end of a path of names and indexes. */
function replaceAt(old: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(old))
    return old.map((item, index) => (String(index) === step ? replaceAt(item, rest, value) : item))
  const object = (old ?? {}) as Record<string, unknown>
  return { ...object, [step]: replaceAt(object[step], rest, value) }
}

/** Replaces one id of a sample; in a body, `a.b` is the field `b` of `a`. */
export function replaceId(sample: Sample, place: 'path' | 'query' | 'body', name: string, value: unknown): Sample {
  return { ...sample, [place]: replaceAt(sample[place], place === 'body' ? name.split('.') : [name], value) }
}

/** Sends a sample as it is, or with the changes in `request`. */
export const send = (operation: Operation, sample: Sample, request: Request = {}): Promise<Reply> =>
  call(buildPath(operation, sample), buildRequestOf(operation, sample, request))

function buildRequestOf(operation: Operation, { body, file }: Sample, request: Request): Request {
  const method = operation.method.toUpperCase()
  if (!file) return { method, ...(body === undefined ? {} : { body }), ...request }
  return { method, raw: file.bytes, ...request, headers: { ...file.headers, ...request.headers } }
}

/** Like `send`, with other bindings than the Worker's own. */
export const sendWith = (bindings: object, operation: Operation, sample: Sample, request: Request): Promise<Reply> =>
  callWith(bindings, buildPath(operation, sample), buildRequestOf(operation, sample, request))

/** Returns the admin of organisation A, or the superuser when no role may call. */
export const chooseCaller = (operation: Operation, world: World): Person =>
  operation.roles.includes('OA') ? world.people.OA : world.people.root

/** The caller who reads a list by its address: an admin of organisation A, or the superuser when no role may call. */
export function chooseReader(address: string, world: World): Person {
  const { pathname } = new URL(address, 'https://api.example')
  const operation = lists.find(({ path }) => path === pathname)
  return operation ? chooseCaller(operation, world) : world.people.OA
}
