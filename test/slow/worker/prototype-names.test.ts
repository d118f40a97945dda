import { beforeAll, describe, expect, it } from 'vitest'
import { call, type Reply } from '../../support/api.ts'
import { chooseCaller, implemented, make, buildPath, send } from '../../support/operations.ts'
import type { Sample } from '../../support/samples/sample.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

/** Names that every JavaScript object inherits. */
const names = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'] as const

const markup = names.map((name) => `<${name} ${name}="x" style="${name}: x; color: red"><p style="${name}:x">`).join('')
const liquid = names
  .map(
    (name) =>
      `{{ ${name} }}{{ customer.${name} }}{{ customer['${name}'].${name} }}{% assign ${name} = 1 %}{{ ${name} }}`,
  )
  .join('')
const loops = names.map((name) => `{% for ${name} in order.items %}{{ ${name}.${name} }}{% endfor %}`).join('')

/** The names as parts of texts of any kind. */
const texts = [markup, liquid, loops]

const expressions = names.flatMap((name) => [
  `${name}(user)`,
  `user.${name} == "x"`,
  `user.email.${name}()`,
  `orders.exists(o, o.${name} == "x")`,
  `orders.${name}(o, true)`,
  `stats.${name} > 1`,
  `orders.exists(${name}, ${name}.status == "x")`,
  `has(user.metadata.${name}) || user.metadata["${name}"] == "x"`,
])

/** Objects with these names as their own keys, as JSON makes them. */
const keys = JSON.parse(`{${names.map((name) => `"${name}":"x"`).join(',')}}`) as Record<string, unknown>
const nestedKeys = JSON.parse(`{${names.map((name) => `"${name}":{"${name}":["x"]}`).join(',')}}`) as typeof keys

type Place = (string | number)[]

/** Lists every text and every object of a body, with its path. */
function* listPlaces(value: unknown, path: Place = []): Generator<{ path: Place; isObject: boolean }> {
  if (typeof value === 'string') yield { path, isObject: false }
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { path, isObject: true }
  for (const [key, child] of Object.entries(value))
    yield* listPlaces(child, [...path, Array.isArray(value) ? Number(key) : key])
}

function changeAt(value: unknown, [step, ...rest]: Place, change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? changeAt(item, rest, change) : item))
  const object = value as Record<string, unknown>
  return { ...object, [step]: changeAt(object[step], rest, change) }
}

/** Builds the requests, with the text and the field that each changes. */
interface NamedRequest {
  what: string
  sample: Sample
  pointer?: string
  text?: string
}

function* buildRequests(sample: Sample, queryNames: readonly string[]): Generator<NamedRequest> {
  for (const name of Object.keys(sample.path ?? {}))
    for (const text of names)
      yield { what: `path ${name}`, sample: { ...sample, path: { ...sample.path, [name]: text } } }
  // Each parameter is changed alone, so that no other one is refused first, and then all together.
  for (const [index, name] of queryNames.entries())
    for (const text of [pickName(index), names.join(',')])
      yield { what: `query ${name}`, sample: { ...sample, query: { ...sample.query, [name]: text } } }
  for (const text of names) {
    const query = Object.fromEntries(queryNames.map((name) => [name, text]))
    yield { what: `each query ${text}`, sample: { ...sample, query } }
  }
  const query = { ...sample.query, ...(keys as Record<string, string>) }
  yield { what: 'query of such names', sample: { ...sample, query } }
  for (const [index, { path, isObject }] of [...listPlaces(sample.body)].entries()) {
    const changedBy = (change: (old: unknown) => unknown): Sample => ({
      ...sample,
      body: changeAt(sample.body, path, change) as Record<string, unknown>,
    })
    const what = `body ${path.join('.')}`
    if (isObject)
      for (const extra of [keys, nestedKeys])
        yield { what, sample: changedBy((old) => ({ ...(old as object), ...extra })) }
    else
      for (const text of [...findTexts(index), ...(path.at(-1) === 'expression' ? expressions : [])])
        yield {
          what: `${what}: ${text.slice(0, 60)}`,
          sample: changedBy(() => text),
          pointer: `#/${path.join('/')}`,
          text,
        }
  }
}

const pickName = (index: number): string => names[index % names.length] ?? ''

/** Two names for each place, so that each name is used at many places. */
const findTexts = (index: number): string[] => [pickName(index), pickName(index + 1), ...texts]

const isFault = (status: number) => status >= 500

/** A field that takes only its own words or ids refused a simple name, so it reads nothing of longer texts. */
const hasOwnForm = ({ status, body }: Reply, pointer: string | undefined): boolean =>
  status === 400 &&
  body.errors.length === 1 &&
  body.errors[0].pointer === pointer &&
  ['invalid_choice', 'invalid_id'].includes(body.errors[0].code)

describe.each(implemented)('$id', (operation) => {
  it('handles names of object properties without a fault, in every text of a request', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const queryNames = Object.keys((operation.query as { shape?: object } | null)?.shape ?? {})
    const faults: string[] = []
    const formed = new Set<string | undefined>()
    for (const { what, sample: one, pointer, text = '' } of buildRequests(sample, queryNames)) {
      if (formed.has(pointer) && texts.includes(text)) continue
      const reply = await send(operation, one, { token: caller.token })
      if (isFault(reply.status)) faults.push(what)
      if (hasOwnForm(reply, pointer)) formed.add(pointer)
    }
    expect(faults).toEqual([])
    // The requests did not pollute the prototype.
    for (const name of ['polluted', 'x']) expect(name in {}).toBe(false)
  })
})

describe('a request with the name of an object property', () => {
  const headerNames = ['idempotency-key', 'if-match', 'if-none-match', 'x-d1-bookmark', 'content-type', 'x-request-id']

  it.each(headerNames)('causes no fault in its %s', async (header) => {
    const [operation] = implemented.filter(({ body, method }) => body && method === 'patch')
    if (!operation) throw new Error('no operation has a body')
    const caller = chooseCaller(operation, world)
    for (const name of names) {
      const sample = await make(operation, world, caller)
      const raw = JSON.stringify(sample.body)
      const headers = { 'content-type': 'application/json', [header]: name }
      const reply = await call(buildPath(operation, sample), {
        method: 'PATCH',
        token: caller.token,
        raw,
        headers: headers,
      })
      expect([name, isFault(reply.status)]).toEqual([name, false])
    }
  })

  it.each([...names])('causes no fault in the path: %s', async (name) => {
    for (const path of [
      `/v1/${name}`,
      `/${name}`,
      `/t/c/${name}`,
      `/t/o/${name}`,
      `/t/u/${name}`,
      `/v1/editions/${name}/${name}`,
    ])
      for (const method of ['GET', 'POST']) {
        const { status } = await call(path, { method, ...(method === 'POST' ? { body: keys } : {}) })
        expect([path, method, isFault(status)]).toEqual([path, method, false])
      }
    const reported = await call(`/provider-events/${name}`, { method: 'POST', body: keys, token: null })
    expect(reported.status).toBe(404)
    const signedIn = await call('/v1/organizations', { token: name })
    expect(signedIn.status).toBe(401)
  })
})
