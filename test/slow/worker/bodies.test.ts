import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import type { Reply } from '../../support/api.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { chooseCaller, getSample, send, sharedSample, withBody } from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import type { Sample } from '../../support/samples/sample.ts'
import { getBodySchema, type Fault, faults, spoilBody } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const json = { 'content-type': 'application/json' }
const bytes = (text: string) => new TextEncoder().encode(text)
const nestObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

const stream = (text: string) =>
  new ReadableStream({
    start(controller) {
      for (let at = 0; at < text.length; at += 65_536) controller.enqueue(bytes(text.slice(at, at + 65_536)))
      controller.close()
    },
  })

const big = `{"name":"${'a'.repeat(1_000_000)}"}`

interface Raw {
  raw: () => BodyInit
  headers?: Record<string, string>
  status?: number
  code: string
}

/** Bodies that no operation can read. */
const unreadable: Record<string, Raw> = {
  'broken JSON': { raw: () => '{"name": "x"', code: 'malformed_body' },
  'white space': { raw: () => ' \n', code: 'malformed_body' },
  'an array': { raw: () => '[]', code: 'malformed_body' },
  'a string': { raw: () => '"x"', code: 'malformed_body' },
  'a number': { raw: () => '1', code: 'malformed_body' },
  null: { raw: () => 'null', code: 'malformed_body' },
  'invalid UTF-8': { raw: () => new Uint8Array([...bytes('{"name":"'), 0xff, ...bytes('"}')]), code: 'malformed_body' },
  'a form': {
    raw: () => 'name=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported_media_type',
  },
  'plain text': {
    raw: () => '{}',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'unsupported_media_type',
  },
  'a hundred levels': { raw: () => nestObjects(100), code: 'validation_error' },
  'ten thousand levels': { raw: () => nestObjects(10_000), code: 'validation_error' },
  'NUL in a name': { raw: () => JSON.stringify({ 'a\0b': 1 }), code: 'validation_error' },
  'NUL deep inside': { raw: () => JSON.stringify({ some: [{ thing: 'a\0b' }] }), code: 'validation_error' },
}

const prepareSample = async (operation: Operation) => {
  const caller = chooseCaller(operation, world)
  const sample = await sharedSample(operation, world, caller)
  return { caller, sample, before: await listChangesSoFar() }
}

const buildPointer = ({ path }: Fault): string => `#/${path.join('/')}`
const isIn = (actual: string | null, pointer: string): boolean =>
  actual === pointer || !!actual?.startsWith(`${pointer}/`)
const describeFault = ({ path, what }: Fault): string => `${path.join('.')}: ${what}`

interface FieldError {
  code: string
  pointer: string | null
}

/** Sends a body with these faults, and returns an error unless the answer names each of them and no other. */
async function complaints(ask: (body: object) => Promise<Reply>, body: Sample['body'], faultsSent: readonly Fault[]) {
  const reply = await ask(faultsSent.reduce((spoilt, fault) => spoilBody(spoilt, fault), body ?? {}))
  if (reply.status !== 400 || reply.body?.code !== 'validation_error')
    return [`${faultsSent.map(describeFault).join(', ')} is answered with ${reply.status} ${reply.body?.code}`]
  const errors = reply.body.errors as FieldError[]
  const named = faultsSent.flatMap((fault) => {
    const [first] = errors.filter(({ pointer }) => isIn(pointer, buildPointer(fault)))
    if (!first) return [`${describeFault(fault)} is not named`]
    return fault.code && first.code !== fault.code ? [`${describeFault(fault)} has the code ${first.code}`] : []
  })
  const stray = errors.filter(({ pointer }) => !faultsSent.some((fault) => isIn(pointer, buildPointer(fault))))
  return [...named, ...stray.map(({ pointer }) => `${faultsSent.map(describeFault).join(', ')} names ${pointer}`)]
}

/** An answer lists at most this many errors. */
const mostErrors = 100

/** A body may have several faults in different fields of one object, and the answer names each. */
function together(allFaults: readonly Fault[]): Fault[][] {
  const groups: Fault[][] = []
  const isBeside = (group: readonly Fault[], { path }: Fault) =>
    group.length < mostErrors &&
    group.every(
      (other) => other.path.slice(0, -1).join('/') === path.slice(0, -1).join('/') && other.path.at(-1) !== path.at(-1),
    )
  for (const fault of allFaults) {
    const group = groups.find((candidate) => isBeside(candidate, fault))
    if (group) group.push(fault)
    else groups.push([fault])
  }
  return groups
}

it('no operation reads more than a megabyte, with a known and an unknown length', async () => {
  const [operation] = withBody
  if (!operation) throw new Error('no operation has a body')
  const { caller, sample } = await prepareSample(operation)
  for (const raw of [() => big, () => stream(big)]) {
    const reply = await send(operation, { path: sample.path ?? {} }, { token: caller.token, raw: raw(), headers: json })
    expect(describeRefusal(reply)).toBe('413 body_too_large')
  }
  const most = `{"name":"${'a'.repeat(1_000_000 - 11)}"}`
  const reply = await send(operation, { path: sample.path ?? {} }, { token: caller.token, raw: most, headers: json })
  expect(reply.status).toBe(400)
})

describe.each(withBody)('$id', (operation) => {
  it('has a sample that sets every field of its body', async () => {
    const { sample } = await prepareSample(operation)
    const fieldNames = Object.keys(getBodySchema(operation).properties ?? {})
    expect(fieldNames).toEqual(expect.arrayContaining(Object.keys(sample.body ?? {})))
  })

  it('refuses a body that it cannot parse, and writes nothing', async () => {
    const { caller, sample, before } = await prepareSample(operation)
    for (const [what, { raw, headers = json, status = 400, code }] of Object.entries(unreadable)) {
      const bare: Sample = { path: sample.path ?? {}, query: sample.query ?? {} }
      const reply = await send(operation, bare, { token: caller.token, raw: raw(), headers })
      expect([what, reply.status, reply.body?.code]).toEqual([what, status, code])
    }
    expect(await listChangesSoFar()).toEqual(before)
  })

  it('points at the one invalid field, and writes nothing', async () => {
    const { caller, sample, before } = await prepareSample(operation)
    const bodyFaults = faults(getBodySchema(operation), sample.body, getSample(operation).itemwise)
    expect(bodyFaults.length).toBeGreaterThan(0)
    const ask = (body: object) =>
      send(operation, { ...sample, body: body as Record<string, unknown> }, { token: caller.token })
    for (const group of together(bodyFaults)) {
      if (group.length > 1 && (await complaints(ask, sample.body, group)).length === 0) continue
      // A fault may hide others when it is in a field that decides how the others are read.
      for (const fault of group) expect(await complaints(ask, sample.body, [fault])).toEqual([])
    }
    expect(await listChangesSoFar()).toEqual(before)
  })
})
