import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { JobCtx } from '../../../src/context.ts'
import { openJob } from '../../../src/entry/job.ts'
import { compareStorage, sweepObjects } from '../../../src/modules/files/jobs.ts'
import { callWith } from '../../support/api.ts'
import { crashAt } from '../../support/crashes.ts'
import { checkAccount, makeFreshPng, queryRows, listStoredKeys, uploadRaw, loadUsedBytes } from '../../support/files.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { fakeImages, fetchFile } from '../../support/served-files.ts'

const dayMs = 86_400_000

/** The number of the call at which everything crashes. A number beyond the last call means no crash. */
const crash = fc.oneof(fc.constant(99), fc.integer({ min: 1, max: 8 }))
const number = fc.nat(5)

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('upload' as const), content: fc.nat(2), crash }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('delete' as const), number, crash }) },
  { arbitrary: fc.record({ act: fc.constant('patch' as const), number, crash }), weight: 1 },
  { arbitrary: fc.record({ act: fc.constant('show' as const), number, crash: fc.constant(99) }), weight: 1 },
  { arbitrary: fc.record({ act: fc.constant('sweep' as const), crash }), weight: 1 },
  { arbitrary: fc.record({ act: fc.constant('compare' as const), crash }), weight: 1 },
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/** A file in the model: its content and its name. */
interface ModelFile {
  content: number
  title: string
}
type Model = ReadonlyMap<string, ModelFile>

interface World {
  organization: string
  contents: readonly Uint8Array<ArrayBuffer>[]
  /** The days that have passed for sweeps. */
  days: number
}

/** Applies the step to the model. An upload adds a file whose id the model does not know. */
interface Plan {
  after: Model
  added?: ModelFile
  run: (bindings: object) => Promise<{ status: number }>
}

async function job(bindings: object, world: World, work: (job: JobCtx) => Promise<void>): Promise<{ status: number }> {
  const at = Date.now() + world.days * dayMs
  try {
    await work({ ...openJob({ ...env, ...bindings }), now: () => at })
    return { status: 200 }
  } catch {
    return { status: 500 }
  }
}

function planStep(one: Step, before: Model, world: World): Plan {
  if (one.act === 'upload') {
    const { content } = one
    const bytes = world.contents[content] ?? makeFreshPng()
    const run = (bindings: object) => uploadRaw(world.organization, bytes, { bindings })
    return { after: before, added: { content, title: '' }, run }
  }
  if (one.act === 'sweep') return { after: before, run: (bindings) => job(bindings, world, sweepObjects) }
  if (one.act === 'compare') {
    world.days += 2
    return { after: before, run: (bindings) => job(bindings, world, compareStorage) }
  }
  const id = [...before.keys()][one.number % Math.max(1, before.size)]
  const file = id === undefined ? undefined : before.get(id)
  if (id === undefined || !file) return { after: before, run: async () => ({ status: 200 }) }
  const path = `/v1/files/${id}`
  if (one.act === 'show') {
    const bindings = fakeImages()
    const show = async () => {
      const [row] = await queryRows<{ access_key: string }>('select access_key from files where id = ?', id)
      return fetchFile(`/files/${id}/${row?.access_key}/thumbnail`, { bindings })
    }
    return { after: before, run: show }
  }
  if (one.act === 'delete') {
    const after = new Map([...before].filter(([key]) => key !== id))
    return { after, run: (bindings) => callWith(bindings, path, { method: 'DELETE' }) }
  }
  const title = `${file.title}x`
  const after = new Map(before).set(id, { ...file, title })
  return { after, run: (bindings) => callWith(bindings, path, { method: 'PATCH', body: { title } }) }
}

/** Lists the files of the database in the words of the model. */
async function listModelFiles({ organization }: World, checksums: readonly string[]): Promise<Model> {
  const rows = await queryRows<{ id: string; title: string; checksum_sha256: string }>(
    'select id, title, checksum_sha256 from files where organization_id = ? order by id',
    organization,
  )
  return new Map(
    rows.map(({ id, title, checksum_sha256 }) => [id, { title, content: checksums.indexOf(checksum_sha256) }]),
  )
}

const inWords = (model: Model) =>
  [...model]
    .map(([id, { content, title }]) => [id, content, title].join(' '))
    .toSorted()
    .join()

/** A step is done completely or not at all. It is done when the answer is a success or nothing crashed. */
function expectOneOf(stored: Model, before: Model, plan: Plan, mustBeDone: boolean): void {
  const [added] = [...stored].filter(([id]) => !before.has(id))
  const after = plan.added && added ? new Map(plan.after).set(added[0], plan.added) : plan.after
  const isDone = inWords(stored) === inWords(after) && (!plan.added || added !== undefined)
  if (mustBeDone) expect(isDone || [inWords(stored), inWords(after)]).toBe(true)
  else expect(isDone || inWords(stored) === inWords(before)).toBe(true)
}

async function expectAccount(world: World, model: Model): Promise<void> {
  const groups = [...Map.groupBy(model.values(), ({ content }) => content)]
  const account = await checkAccount(world.organization)
  expect({ ...account, references: account.references.toSorted() }).toEqual({
    objects: groups.length,
    references: groups.map(([, files]) => files.length).toSorted(),
    isCounted: true,
    isStored: true,
    lost: 0,
  })
  const bytes = groups.reduce((sum, [content]) => sum + (world.contents[content]?.length ?? 0), 0)
  expect(await loadUsedBytes(world.organization)).toBe(bytes)
}

/** Every object in the store has a row. */
async function expectNothingLeft(world: World): Promise<void> {
  world.days += 2
  await job({}, world, sweepObjects)
  for (let steps = 0; steps < 3; steps++) await job({}, world, compareStorage)
  const rows = await queryRows<{ storage_key: string }>('select storage_key from stored_objects')
  const knownKeys = new Set(rows.map(({ storage_key }) => storage_key))
  expect((await listStoredKeys()).filter((key) => !knownKeys.has(key))).toEqual([])
  const sources = (await listStoredKeys('derived/')).map((key) => key.split('/').slice(1, -1).join('/'))
  expect(sources.filter((key) => !knownKeys.has(key))).toEqual([])
  expect(await queryRows('select * from objects_to_delete')).toEqual([])
}

it('references, bytes and counts stay correct after any uploads, deletions, changes, sweeps and crashes', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const world: World = { organization: '', contents: [], days: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      world.organization = (await givenOrganization()).id
      world.contents = [makeFreshPng(), makeFreshPng(), makeFreshPng()]
      const digests = world.contents.map((bytes) => crypto.subtle.digest('SHA-256', bytes))
      const checksums = (await Promise.all(digests)).map((digest) => new Uint8Array(digest).toHex())
      let model: Model = new Map()
      for (const nextStep of steps) {
        const plan = planStep(nextStep, model, world)
        const { bindings, hasCrashed } = crashAt(nextStep.crash)
        const { status } = await plan.run(bindings)
        const storedFiles = await listModelFiles(world, checksums)
        expectOneOf(storedFiles, model, plan, status < 300 || !hasCrashed())
        await expectAccount(world, storedFiles)
        model = storedFiles
      }
      await expectNothingLeft(world)
      await expectAccount(world, model)
    }),
    { numRuns: 15 },
  )
  vi.restoreAllMocks()
})
