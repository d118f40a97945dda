import { asc, eq } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedDnsRecords } from '../../db/schema/messaging/sender-domains.ts'
import { select } from '../../db/select.ts'
import { insertAll, remove } from '../../db/write.ts'
import { notFound } from '../../domain/errors.ts'
import type { CapturedRecords } from '../../gateways/dns/dns.ts'

export type RecordsCtx = Pick<JobCtx, 'db' | 'config'>

const bareName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

const isAt = (name: string) => eq(capturedDnsRecords.name, bareName(name))

/** The records that the capture gateway of DNS answers. */
export const capturedRecords = ({ db }: Pick<JobCtx, 'db'>): CapturedRecords => ({
  findTexts: async (name) => {
    const { value } = capturedDnsRecords
    const found = select({ value }).from(capturedDnsRecords).where(isAt(name)).orderBy(asc(value))
    const rows = await db.all(found)
    return rows.map((row) => row.value)
  },
})

/** A caller who sets a record proves a domain by it: only where no mail is real. */
function refuseInProduction({ config }: RecordsCtx): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export async function capturedRecordsAt(ctx: RecordsCtx, name: string): Promise<readonly string[]> {
  refuseInProduction(ctx)
  return capturedRecords(ctx).findTexts(name)
}

/** Replaces the texts at a name. */
export async function setCapturedRecords(
  ctx: RecordsCtx,
  name: string,
  read: () => readonly string[],
): Promise<readonly string[]> {
  refuseInProduction(ctx)
  const rows = [...new Set(read())].map((value) => ({ name: bareName(name), value }))
  await ctx.db.batch([remove(capturedDnsRecords, isAt(name)), ...insertAll(capturedDnsRecords, rows)])
  return capturedRecordsAt(ctx, name)
}
