import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { entriesOf } from '../../src/objects/campaign/list-entries.ts'
import { ListStore } from '../../src/objects/campaign/list-store.ts'
import { asRecipient, PackStore } from '../../src/objects/campaign/pack-store.ts'
import { addPeople, aPerson, withStore } from '../support/recipient-lists.ts'

it('has the entries of all recipients, whatever is noted of them, in blocks and notes of any size', () =>
  withStore(async (store) => {
    const { sql } = store.storage
    const changes = fc.array(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom('sent', 'failed')), { maxLength: 9 }),
    )
    const sizes = fc.record({
      block: fc.integer({ min: 1, max: 9 }),
      note: fc.integer({ min: 1, max: 9 }),
      notes: fc.integer({ min: 1, max: 5 }),
    })
    addPeople(store, 20, 20)
    await fc.assert(
      fc.asyncProperty(changes, sizes, async (all, given) => {
        const lists = new ListStore(sql, new PackStore(sql), given)
        lists.make()
        const rows = new Map(store.recipients(Array.from({ length: 60 }, (_, n) => n)).map((row) => [row.n, row]))
        for (const one of all) {
          const noted = one.map(([n, state], at) => ({
            ...asRecipient(aPerson(n)),
            state,
            sent_at: state === 'sent' ? at : null,
          }))
          lists.note(noted)
          for (const row of noted) rows.set(row.n, row)
          expect(lists.all()).toEqual(entriesOf([...rows.values()].toSorted((row, other) => row.n - other.n)))
        }
        const blocks = sql.exec<{ size: number }>('select length(entries) / 24 as size from list_blocks').toArray()
        expect(blocks.filter(({ size }) => size > given.block)).toEqual([])
        expect(sql.exec<{ n: number }>('select count(*) as n from list_notes').one().n).toBeLessThanOrEqual(given.notes)
      }),
    )
  }))
