import { asc, eq } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedDnsRecords } from '../../db/schema/captures.ts'
import { select } from '../../db/select.ts'
import { insertAll, remove } from '../../db/write.ts'
import { notFound } from '../../domain/errors.ts'
import type { CapturedRecords } from '../../gateways/dns/dns.ts'

export type RecordsCtx = Pick<JobCtx, 'db' | 'config'>

const normalizeName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

const isAt = (name: string) => eq(capturedDnsRecords.name, normalizeName(name))

/** Reads the records of the captured DNS from the database. */
export const createCapturedRecords = ({ db }: Pick<JobCtx, 'db'>): CapturedRecords => ({
  findTexts: async (name) => {
    const { value } = capturedDnsRecords
    const rows = await db.all(select({ value }).from(capturedDnsRecords).where(isAt(name)).orderBy(asc(value)))
    return rows.map((row) => row.value)
  },
})

/** Whoever sets a record can verify any domain, so this works only where no e-mail is real. */
function refuseInProduction({ config }: RecordsCtx): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export async function readCapturedRecords(ctx: RecordsCtx, name: string): Promise<readonly string[]> {
  refuseInProduction(ctx)
  return createCapturedRecords(ctx).findTexts(name)
}

/** Replaces the texts of a name. */
export async function setCapturedRecords(
  ctx: RecordsCtx,
  name: string,
  readTexts: () => readonly string[],
): Promise<readonly string[]> {
  refuseInProduction(ctx)
  const rows = [...new Set(readTexts())].map((value) => ({ name: normalizeName(name), value }))
  await ctx.db.batch([remove(capturedDnsRecords, isAt(name)), ...insertAll(capturedDnsRecords, rows)])
  return readCapturedRecords(ctx, name)
}
