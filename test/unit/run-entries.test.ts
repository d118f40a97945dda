import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Entry, packEntries, unpackEntries } from '../../src/db/lists/runs/entries.ts'
import { ownersIn, type RowOwner } from '../../src/db/lists/runs/row-owners.ts'

const id = fc.stringMatching(/^[0-9A-Z]{8}$/)
const owners = (ids: readonly string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...ids), fc.integer({ min: 0, max: 3 })), { maxLength: 6 })
    .map((some) => some.map(([one, flags]) => `${one}${flags}`).join(''))
const entry = (ids: readonly string[]): fc.Arbitrary<Entry> =>
  fc.record({
    value: fc.string(),
    created_at: fc.integer({ min: -(2 ** 40), max: 2 ** 41 }),
    key: fc.integer({ min: 1, max: 2 ** 40 }),
    kind: fc.nat({ max: 300 }),
    owners: fc.option(owners(ids), { nil: undefined }),
  })
const entries = fc
  .array(id, { minLength: 1, maxLength: 40 })
  .chain((ids) => fc.array(entry(ids), { minLength: 1, maxLength: 200 }))

const format = { hasTextValues: true, hasTextKeys: false, hasMoments: true, isDeflated: true, kinds: 512 }

it('entries that are packed are unpacked as they were, with the editions that have each', async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (packed) => {
      const bytes = await packEntries(packed, format)
      const found: (readonly RowOwner[] | null)[] = []
      const unpacked = await unpackEntries(bytes, format, (_, kind, of) => {
        found.push(of)
        return kind
      })
      expect(unpacked).toEqual(packed.map(({ owners: _, ...one }) => one))
      expect(found).toEqual(packed.map((one) => ownersIn(one.owners ?? '')))
    }),
    { numRuns: 100 },
  )
})

it('entries are unpacked as the kind that they are seen as, without those that are not wanted', async () => {
  const one = (key: number, kind: number): Entry => ({ value: `v${key}`, created_at: key, key, kind })
  const bytes = await packEntries([one(1, 0), one(2, 7), one(3, 8)], format)
  const found = await unpackEntries(bytes, format, (_, kind) => (kind === 7 ? null : kind + 1))
  expect(found).toEqual([one(1, 1), one(3, 9)])
})
