import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { readFurtherPages } from '../../db/paginate.ts'
import { rowsPerPage, streamTable, type Table } from '../../domain/text/table-file.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { SuppressionRow } from './queries.ts'

type Position = Pick<SuppressionRow, 'channel' | 'address'> | { channel: ''; address: '' }

const selectPage = (organizationId: string, { channel, address }: Position) =>
  sql<SuppressionRow>`select * from suppressions where organization_id = ${organizationId}
    and (channel, address) > (${channel}, ${address}) order by channel, address limit ${rowsPerPage}`

const columns = ['channel', 'address', 'reason', 'detail', 'date'] as const

const cells: Table<(typeof columns)[number], SuppressionRow>['cells'] = {
  channel: (row) => row.channel,
  address: (row) => row.address,
  reason: (row) => row.reason,
  detail: (row) => row.detail,
  date: (row) => toIso(row.created_at),
}

/** Builds the CSV file of all suppressions. The export is recorded before the first row is sent. */
export const exportSuppressions = (
  ctx: Ctx,
  organizationId: string,
  { bom = true }: { bom?: boolean | undefined },
) => ({
  name: `suppressions-${toIso(ctx.now()).slice(0, 10)}.csv`,
  open: async () => {
    const [rows] = await ctx.db.batch([
      selectPage(organizationId, { channel: '', address: '' }),
      ...(await ctx.recordWrite({ format: 'csv' }, true)),
    ])
    const others = readFurtherPages(rows, rowsPerPage, (last) => ctx.db.all(selectPage(organizationId, last)))
    return streamTable({ format: 'csv', columns, bom, cells }, rows, others)
  },
})
