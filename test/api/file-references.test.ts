import { describe, expect, it } from 'vitest'
import { fileReferences } from '../../src/modules/files/index.ts'
import { queryRows } from '../support/files.ts'

describe('the table of references to files', () => {
  it('has every column that names a file or an image', async () => {
    const tables = await queryRows<{ name: string }>("select name from sqlite_master where type = 'table'")
    const references: string[] = []
    for (const { name } of tables) {
      if (/^_cf|^sqlite|^d1_/.test(name)) continue
      const columns = await queryRows<{ name: string }>(`select name from pragma_table_info('${name}')`)
      const keys = await queryRows<{ from: string }>(
        `select "from" from pragma_foreign_key_list('${name}') where "table" = 'files'`,
      )
      const named = columns.filter((column) =>
        /(?:^|_)(?:file|image|avatar|logo|picture|photo|attachment)s?(?:_ids?)?$/.test(column.name),
      )
      references.push(
        ...new Set(
          [...named.map((column) => column.name), ...keys.map((key) => key.from)].map((column) => `${name}.${column}`),
        ),
      )
    }
    // An upload stores only the id of its file, a scan is deleted with its file, and ids in JSON also have a table.
    const others = ['file_scans.file_id', 'file_uploads.file_id', 'products.images']
    const listedReferences = [...fileReferences.map(({ table, column }) => `${table}.${column}`), ...others]
    expect(references.toSorted()).toEqual(listedReferences.toSorted())
  })
})
