import { asc, eq } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedDnsRecords } from '../../db/schema/messaging/sender-domains.ts'
import { select } from '../../db/select.ts'
import { insertAll, remove } from '../../db/write.ts'
import { notFound } from '../../domain/errors.ts'
import type { CapturedRecords } from '../../gateways/dns/captured.ts'

export type RecordsCtx = Pick<JobCtx, 'db' | 'config'>

const normalizeName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

const isAt = (name: string) => eq(capturedDnsRecords.name, normalizeName(name))

/** The records that the capture gateway of DNS answers. */
export const createCapturedRecords = ({ db }: Pick<JobCtx, 'db'>): CapturedRecords => ({
  textsAt: async (name) => {
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

export async function readCapturedRecords(ctx: RecordsCtx, name: string): Promise<readonly string[]> {
  refuseInProduction(ctx)
  return createCapturedRecords(ctx).textsAt(name)
}

/** Replaces the texts at a name. */
export async function setCapturedRecords(
  ctx: RecordsCtx,
  name: string,
  read: () => readonly string[],
): Promise<readonly string[]> {
  refuseInProduction(ctx)
  const rows = [...new Set(read())].map((value) => ({ name: normalizeName(name), value }))
  await ctx.db.batch([remove(capturedDnsRecords, isAt(name)), ...insertAll(capturedDnsRecords, rows)])
  return readCapturedRecords(ctx, name)
}
