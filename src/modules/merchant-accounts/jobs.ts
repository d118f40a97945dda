import { and, getTableColumns, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { merchantAccounts } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { inList } from '../../db/visibility.ts'
import { update } from '../../db/write.ts'
import { fingerprintSecret } from '../../domain/accounts/secret-seal.ts'
import type { MerchantAccountRow } from './queries.ts'
import { openSecrets, sealSecrets } from './secrets.ts'

const accountsASweep = 50

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** The account sealed anew, unless its secrets change meanwhile. */
async function resealed(job: JobCtx, row: MerchantAccountRow): Promise<Statement[]> {
  const secrets = await openSecrets(job, row)
  const isWhole =
    (secrets.api_key === null) === (row.sealed_api_key === null) &&
    (secrets.webhook_secret === null) === (row.sealed_webhook_secret === null)
  if (!isWhole) return []
  const sealed = await sealSecrets({ config: job.config, randomBytes }, row.id, secrets)
  const asRead = sql`id = ${row.id} and sealed_api_key is ${row.sealed_api_key}
    and sealed_webhook_secret is ${row.sealed_webhook_secret}`
  return [update(merchantAccounts, sealed, asRead)]
}

/**
 * Seals with MERCHANT_KEY_SECRET what MERCHANT_KEY_SECRET_PREVIOUS sealed, some accounts at a time. Without a previous
 * secret it reads nothing. Answers how many were sealed anew.
 */
export async function resealMerchantAccounts(job: JobCtx): Promise<number> {
  const [, ...previous] = job.config.payments.secrets
  if (previous.length === 0) return 0
  const fingerprints = await Promise.all(previous.map(fingerprintSecret))
  const { sealed_with } = merchantAccounts
  const rows = await job.db.all(
    select(getTableColumns(merchantAccounts))
      .from(merchantAccounts)
      .where(and(inList(sql`${sealed_with}`, fingerprints), isNotNull(sealed_with)))
      .limit(accountsASweep),
  )
  const statements = (await Promise.all(rows.map((row) => resealed(job, row)))).flat()
  if (statements.length) await job.db.batch(statements)
  return statements.length
}
