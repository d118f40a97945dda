import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { byteOrderMark, formatCsvRecord } from '../../domain/text/csv.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { SuppressionRow } from './queries.ts'

const rowsPerPage = 1000

type Position = Pick<SuppressionRow, 'channel' | 'address'> | { channel: ''; address: '' }

const selectPage = (organizationId: string, { channel, address }: Position) =>
  sql<SuppressionRow>`select * from suppressions where organization_id = ${organizationId}
    and (channel, address) > (${channel}, ${address}) order by channel, address limit ${rowsPerPage}`

async function* streamRecords(ctx: Ctx, organizationId: string, first: SuppressionRow[]): AsyncGenerator<string> {
  for (let rows = first; rows.length;) {
    yield rows
      .map(({ channel, address, reason, detail, created_at }) =>
        formatCsvRecord([channel, address, reason, detail, toIso(created_at)]),
      )
      .join('')
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return
    rows = await ctx.db.all(selectPage(organizationId, last))
  }
}

async function* prepend(header: string, records: AsyncGenerator<string>): AsyncGenerator<string> {
  yield header
  yield* records
}

/** Builds the CSV file of all suppressions. The export is recorded before the first row is sent. */
export const exportSuppressions = (
  ctx: Ctx,
  organizationId: string,
  { bom = true }: { bom?: boolean | undefined },
) => ({
  name: `suppressions-${toIso(ctx.now()).slice(0, 10)}.csv`,
  open: async () => {
    const header = (bom ? byteOrderMark : '') + formatCsvRecord(['channel', 'address', 'reason', 'detail', 'date'])
    const [rows] = await ctx.db.batch([
      selectPage(organizationId, { channel: '', address: '' }),
      ...(await ctx.recordWrite({ format: 'csv' }, true)),
    ])
    return prepend(header, streamRecords(ctx, organizationId, rows))
  },
})
