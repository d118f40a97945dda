import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listRepeatedRecords, type MergeableRecord } from '../../src/domain/consents/merged-answers.ts'

const now = 1_000_000

const record = (change: Partial<MergeableRecord> & { occurred_at: number }): MergeableRecord => ({
  id: `cre_${change.occurred_at}`,
  status: 'given',
  method: 'checkbox',
  import_id: null,
  expires_at: null,
  ...change,
})

const given = (occurred_at: number, change: Partial<MergeableRecord> = {}) => record({ occurred_at, ...change })
const withdrawn = (occurred_at: number) => record({ occurred_at, status: 'withdrawn' })
const skipped = (occurred_at: number) => record({ occurred_at, status: 'skipped' })
const pending = (occurred_at: number, expires_at = now + 1) => record({ occurred_at, status: 'pending', expires_at })

const timesOf = (records: readonly MergeableRecord[]) => records.map(({ occurred_at }) => occurred_at)

describe('listRepeatedRecords', () => {
  it.each([
    { title: 'nothing when the own answer is later', own: [given(2)], other: [withdrawn(1)], repeated: [] },
    { title: 'the later answer of the other', own: [given(1)], other: [given(2), withdrawn(3)], repeated: [3] },
    { title: 'an answer of somebody who had none', own: [], other: [given(1)], repeated: [1] },
    { title: 'no empty box after an answer', own: [given(1)], other: [skipped(2)], repeated: [] },
    { title: 'no request for a consent that is given', own: [given(1)], other: [pending(2)], repeated: [] },
    { title: 'no request that was never confirmed', own: [], other: [pending(1, now)], repeated: [] },
    { title: 'a request behind a withdrawal', own: [given(1), withdrawn(2)], other: [pending(3)], repeated: [2, 3] },
    {
      title: 'what an undo of an import leaves',
      own: [given(5, { import_id: 'imp_1' })],
      other: [given(1), withdrawn(3)],
      repeated: [3, 5],
    },
    {
      title: 'a consent with its expiry',
      own: [],
      other: [given(1, { expires_at: 9 }), record({ occurred_at: 9, status: 'expired', method: 'expiry' })],
      repeated: [1, 9],
    },
    {
      title: 'no expiry of an older answer',
      own: [given(5)],
      other: [given(1, { expires_at: 9 }), record({ occurred_at: 9, status: 'expired', method: 'expiry' })],
      repeated: [],
    },
  ])('repeats $title', ({ own, other, repeated }) => {
    expect(timesOf(listRepeatedRecords(own, other, now))).toEqual(repeated)
  })

  it('lets the stricter of two answers of one time count', () => {
    expect(listRepeatedRecords([given(1)], [withdrawn(1)], now)).toMatchObject([{ status: 'withdrawn' }])
    expect(listRepeatedRecords([withdrawn(1)], [given(1)], now)).toEqual([])
  })

  it('always leaves the last answer of both at the end', () => {
    const answers = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { maxLength: 12 })
    const owners = fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(answers, owners, (times, choices) => {
        const records = times
          .toSorted((one, another) => one - another)
          .map((occurred_at, index) => {
            const [isOwn = true, isGiven = true, isImported = false] = choices[index] ?? []
            const status = isGiven ? ('given' as const) : ('withdrawn' as const)
            return { isOwn, row: record({ occurred_at, status, import_id: isImported ? 'imp_1' : null }) }
          })
        const chainOf = (isOwn: boolean) => records.flatMap((one) => (one.isOwn === isOwn ? [one.row] : []))
        const [own, other] = [chainOf(true), chainOf(false)]
        const chain = [...own, ...listRepeatedRecords(own, other, now)]
        expect(chain.at(-1)).toEqual(records.at(-1)?.row)
        // An undo of the import leaves the last answer that the import did not bring.
        const isFixed = ({ import_id }: MergeableRecord) => import_id === null
        const lastFixed = records.map(({ row }) => row).findLast(isFixed)
        if (lastFixed) expect(chain.slice(0, chain.findLastIndex(isFixed) + 1).at(-1)).toEqual(lastFixed)
      }),
    )
  })
})
