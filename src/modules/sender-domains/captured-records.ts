import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedDnsRecords } from '../../db/schema/sender-domains.ts'
import { insertAll } from '../../db/write.ts'
import { notFound } from '../../domain/errors.ts'
import type { CapturedRecords } from '../../gateways/dns/captured.ts'

export type RecordsCtx = Pick<JobCtx, 'db' | 'config'>

const bareName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** What the capture gateway of the name system answers. */
export const capturedRecords = ({ db }: Pick<JobCtx, 'db'>): CapturedRecords => ({
  textsAt: async (name) => {
    const rows = await db.all(
      sql<{ value: string }>`select value from captured_dns_records where name = ${bareName(name)} order by value`,
    )
    return rows.map(({ value }) => value)
  },
})

/** A caller who sets a record proves a domain by it: only where no mail is real. */
function refuseInProduction({ config }: RecordsCtx): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export async function capturedRecordsAt(ctx: RecordsCtx, name: string): Promise<readonly string[]> {
  refuseInProduction(ctx)
  return capturedRecords(ctx).textsAt(name)
}

/** Replaces the texts at a name. */
export async function setCapturedRecords(
  ctx: RecordsCtx,
  name: string,
  read: () => readonly string[],
): Promise<readonly string[]> {
  refuseInProduction(ctx)
  const rows = [...new Set(read())].map((value) => ({ name: bareName(name), value }))
  await ctx.db.batch([
    sql`delete from captured_dns_records where name = ${bareName(name)}`,
    ...insertAll(capturedDnsRecords, rows),
  ])
  return capturedRecordsAt(ctx, name)
}
