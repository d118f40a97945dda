import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import type { Reply } from '../support/api.ts'
import { changesSoFar, countChanges } from '../support/changes.ts'
import { callerOf, sampleOf, send, standingSample, withBody } from '../support/operations.ts'
import type { Sample } from '../support/samples/sample.ts'
import { bodySchema, faults, spoiled } from '../support/schema.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const json = { 'content-type': 'application/json' }
const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

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
  'a hundred levels': { raw: () => nested(100), code: 'validation_error' },
  'ten thousand levels': { raw: () => nested(10_000), code: 'validation_error' },
  'NUL in a name': { raw: () => JSON.stringify({ 'a\0b': 1 }), code: 'validation_error' },
  'NUL deep inside': { raw: () => JSON.stringify({ some: [{ thing: 'a\0b' }] }), code: 'validation_error' },
}

const prepared = async (operation: Operation) => {
  const caller = callerOf(operation, world)
  // All that it is changed to is refused.
  const sample = await standingSample(operation, world, caller)
  return { caller, sample, before: await changesSoFar() }
}

/** Pointers of the answer that do not lead to the property, nor into it. */
const strayPointers = (reply: Reply, pointer: string): string[] =>
  ((reply.body?.errors ?? []) as { pointer: string }[])
    .map((error) => error.pointer)
    .filter((found) => found !== pointer && !found?.startsWith(`${pointer}/`))

it('reads no more than a megabyte, whether it knows the length or not', async () => {
  const [operation] = withBody
  if (!operation) throw new Error('no operation has a body')
  const { caller, sample } = await prepared(operation)
  for (const raw of [() => big, () => stream(big)]) {
    const reply = await send(operation, { path: sample.path ?? {} }, { token: caller.token, raw: raw(), headers: json })
    expect([reply.status, reply.body?.code]).toEqual([413, 'body_too_large'])
  }
  const most = `{"name":"${'a'.repeat(1_000_000 - 11)}"}`
  const reply = await send(operation, { path: sample.path ?? {} }, { token: caller.token, raw: most, headers: json })
  expect(reply.status).toBe(400)
})

describe.each(withBody.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  it('has a sample that fills its body', async () => {
    const { sample } = await prepared(operation)
    const known = Object.keys(bodySchema(operation).properties ?? {})
    expect(known).toEqual(expect.arrayContaining(Object.keys(sample.body ?? {})))
  })

  it('refuses what it cannot read, and writes nothing', async () => {
    const { caller, sample, before } = await prepared(operation)
    for (const [what, { raw, headers = json, status = 400, code }] of Object.entries(unreadable)) {
      const bare: Sample = { path: sample.path ?? {}, query: sample.query ?? {} }
      const reply = await send(operation, bare, { token: caller.token, raw: raw(), headers })
      expect([what, reply.status, reply.body?.code]).toEqual([what, status, code])
    }
    expect(await changesSoFar()).toEqual(before)
  })

  it('points at the one field that is wrong, and writes nothing', async () => {
    const { caller, sample, before } = await prepared(operation)
    const found = faults(bodySchema(operation), sample.body, sampleOf(operation).itemwise)
    expect(found.length).toBeGreaterThan(0)
    for (const fault of found) {
      const name = `${fault.path.join('.')}: ${fault.what}`
      const reply = await send(
        operation,
        { ...sample, body: spoiled(sample.body ?? {}, fault) },
        { token: caller.token },
      )
      expect([name, reply.status, reply.body?.code]).toEqual([name, 400, 'validation_error'])
      expect([name, reply.body.errors.length > 0, strayPointers(reply, `#/${fault.path.join('/')}`)]).toEqual([
        name,
        true,
        [],
      ])
      if (fault.code) expect([name, reply.body.errors[0].code]).toEqual([name, fault.code])
    }
    expect(await changesSoFar()).toEqual(before)
  })
})
