import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  copiedTables,
  type CopySource,
  derivedTables,
  planCopy,
  uncopiedTables,
} from '../../src/domain/editions/edition-copy.ts'
import { listColumns, listTableNames } from '../support/dump.ts'
import { db } from '../support/seeding/rows.ts'

describe('the rows that an edition owns', () => {
  it('are copied with the edition, or are listed as not copied', async () => {
    const listedTables = new Set([...Object.keys(copiedTables), ...derivedTables, ...Object.keys(uncopiedTables)])
    const copied = new Set(Object.keys(copiedTables))
    const strangers: string[] = []
    for (const table of await listTableNames()) {
      const columns = await listColumns(table)
      const parents = await db.all(
        sql<{ parent: string }>`select "table" as parent from pragma_foreign_key_list(${table})`,
      )
      const belongs =
        columns.some(({ name }) => name === 'edition_id') || parents.some(({ parent }) => copied.has(parent))
      if (belongs && !listedTables.has(table)) strangers.push(table)
    }
    expect(strangers).toEqual([])
    const tables = await listTableNames()
    expect([...listedTables].filter((table) => !tables.includes(table))).toEqual([])
  })
})

describe('the copy of an edition', () => {
  const emptySource = Object.fromEntries(Object.keys(copiedTables).map((table) => [table, []])) as unknown as CopySource
  const source: CopySource = {
    ...emptySource,
    categories: [{ id: 'cat_1', parent: null }],
    products: [
      { id: 'prd_1', parent: 'cat_1' },
      { id: 'prd_2', parent: null },
    ],
    variants: [{ id: 'var_1', parent: 'prd_2' }],
    email_messages: [{ id: 'eml_1', parent: null }],
    triggers: [
      { id: 'trg_1', parent: 'eml_1' },
      { id: 'trg_2', parent: 'eml_gone' },
    ],
  }
  const plan = (mode: 'copy' | 'share') => {
    let idCount = 0
    return planCopy(
      mode === 'copy' ? source : { ...source, email_messages: [] },
      mode,
      (kind) => `${kind} ${++idCount}`,
    )
  }

  it('has new ids of the same kinds, and refers to the copied rows', () => {
    const { rows } = plan('copy')
    expect(rows.categories).toEqual([{ from: 'cat_1', to: 'category 1', parent: null }])
    expect(rows.products).toEqual([
      { from: 'prd_1', to: 'product 2', parent: 'category 1' },
      { from: 'prd_2', to: 'product 3', parent: null },
    ])
    expect(rows.variants).toEqual([{ from: 'var_1', to: 'variant 4', parent: 'product 3' }])
  })

  it('refers to copies of its messages, and to shared messages', () => {
    const copied = plan('copy')
    expect(copied.rows.triggers.map(({ parent }) => parent)).toEqual(['email_message 5', null])
    expect(['eml_1', 'eml_gone', null].map(copied.findMessage)).toEqual(['email_message 5', null, null])
    const shared = plan('share')
    expect(shared.rows.triggers.map(({ parent }) => parent)).toEqual(['eml_1', 'eml_gone'])
    expect(shared.findMessage('eml_1')).toBe('eml_1')
  })
})
