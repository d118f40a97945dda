import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { implemented, lists, replaceId, send, sharedSample } from '../../support/operations.ts'
import type { Reference, Sample } from '../../support/samples/sample.ts'
import { unknownId } from '../../support/seeding/rows.ts'
import { buildWorld, type Person, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const fixed = { 'x-request-id': 'fixed' }

/** Returns the status, the body and the headers that could tell two answers apart. */
async function answer(operation: Operation, sample: Sample, caller: Person) {
  const reply = await send(operation, sample, { token: caller.token, headers: fixed })
  return { status: reply.status, text: reply.text, etag: reply.headers.get('etag'), link: reply.headers.get('link') }
}

const listReferences = (sample: Sample, place: Reference['in']) =>
  (sample.references ?? []).filter((reference) => reference.in === place)

const malformed = ['x', "' or 1=1 --", 'org_', '\0', '%', '😀', 'a'.repeat(300), '__proto__']

/** Operations of the superuser alone act on what belongs to no organisation. */
const named = implemented.filter((operation) => operation.path.includes('{') && operation.roles.length > 0)

/** Compares the answers for `hidden` ids with the answer for ids that do not exist. */
async function expectHidden(
  operation: Operation,
  caller: Person,
  change: (sample: Sample, value: 'unknown' | 'hidden') => Sample,
) {
  const sample = await sharedSample(operation, world, caller)
  const before = await listChangesSoFar()
  const unknown = await answer(operation, change(sample, 'unknown'), caller)
  const hidden = await answer(operation, change(sample, 'hidden'), caller)
  expect(hidden).toEqual(unknown)
  expect(await listChangesSoFar()).toEqual(before)
  return hidden
}

describe.each(named)('$id', (operation) => {
  const caller = () => world.people.OA

  it('has a sample for each id in its path', async () => {
    const sample = await sharedSample(operation, world, caller())
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(
      listReferences(sample, 'path')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted())
  })

  it('answers for ids of another organisation as for unknown ids', async () => {
    const references = listReferences(await sharedSample(operation, world, caller()), 'path')
    for (const { name, foreign } of references) {
      const hidden = await expectHidden(operation, caller(), (sample, value) =>
        replaceId(sample, 'path', name, value === 'hidden' ? foreign : unknownId(foreign)),
      )
      expect(hidden.status).toBe(404)
      const sample = await sharedSample(operation, world, caller())
      for (const text of malformed) {
        const reply = await answer(operation, replaceId(sample, 'path', name, text), caller())
        // An id of another kind may be told how ids begin, which depends on its text alone.
        const isKindNamed = /Ids in this path begin with/.test(reply.text)
        expect([text, isKindNamed ? reply.status : reply]).toEqual([text, isKindNamed ? 404 : hidden])
      }
    }
    const all = references.reduce(
      (sample, { name, foreign }) => replaceId(sample, 'path', name, foreign),
      await sharedSample(operation, world, caller()),
    )
    expect((await answer(operation, all, caller())).status).toBe(404)
  })

  it('answers an edition role for ids of another edition as for unknown ids', async () => {
    const role = operation.roles.find((code) => code.startsWith('E'))
    if (!role) return
    const person = world.people[role]
    for (const { name, sibling } of listReferences(await sharedSample(operation, world, person), 'path')) {
      if (!sibling) continue
      const hidden = await expectHidden(operation, person, (sample, value) =>
        replaceId(sample, 'path', name, value === 'hidden' ? sibling : unknownId(sibling)),
      )
      expect(hidden.status).toBe(404)
    }
  })
})

describe.each(implemented.filter((operation) => operation.method === 'get'))('$id', (operation) => {
  const isList = lists.includes(operation)

  const expectHiddenIds = async (caller: Person, pick: (one: Reference) => string | undefined) => {
    for (const reference of listReferences(await sharedSample(operation, world, caller), 'query')) {
      const hiddenId = pick(reference)
      if (!hiddenId) continue
      const removeQuery = (sample: Sample) => ({ ...sample, query: {} })
      const keepSample = (sample: Sample) => sample
      for (const base of reference.narrows ? [keepSample] : [removeQuery, keepSample]) {
        const hidden = await expectHidden(operation, caller, (sample, value) =>
          replaceId(base(sample), 'query', reference.name, value === 'hidden' ? hiddenId : unknownId(hiddenId)),
        )
        const isRight = reference.refuses ? [400, 404].includes(hidden.status) : hidden.status === 200
        expect([reference.name, isRight || hidden.text]).toEqual([reference.name, true])
        if (isList) expect(JSON.parse(hidden.text)).toEqual({ count: 0, next: null, previous: null, results: [] })
      }
    }
  }

  it('finds nothing by ids of another organisation', () => expectHiddenIds(world.people.OA, (one) => one.foreign))

  it('finds nothing by ids of another edition for an edition role', async () => {
    const [role] = operation.roles.filter((code) => code.startsWith('E'))
    for (const editionRole of role ? [role] : [])
      await expectHiddenIds(world.people[editionRole], ({ sibling }) => sibling)
  })

  it('finds rows by these ids for callers who may see them', async () => {
    if (!isList || operation.path.includes('{')) return
    for (const reference of listReferences(await sharedSample(operation, world, world.people.root), 'query')) {
      if (reference.narrows) continue
      const sample = { query: { [reference.name]: reference.foreign } }
      const reply = await send(operation, sample, { token: world.people.root.token })
      expect([reference.name, reply.body.count > 0]).toEqual([reference.name, true])
    }
  })
})

describe.each(lists)('$id', (operation) => {
  it('returns to each caller only rows of organisation A', async () => {
    const { b, people, stranger } = world
    for (const role of operation.roles) {
      const sample = await sharedSample(operation, world, people[role])
      const reply = await send(operation, sample, { token: people[role].token })
      expect(reply.status).toBe(200)
      for (const id of [
        b.id,
        b.event,
        b.member,
        ...b.editions.flatMap((edition) => Object.values(edition)),
        stranger.account,
      ])
        expect([role, id, reply.text.includes(id)]).toEqual([role, id, false])
    }
  })
})
