import { and, getTableColumns, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { fingerprintSecret } from '../../domain/accounts/secret-seal.ts'
import type { MerchantAccountRow } from './queries.ts'
import { openSecrets, sealSecrets } from './secrets.ts'

const accountsPerSweep = 50

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** Encrypts the secrets of an account again. The update finds no row when they have changed since they were read. */
async function buildReseal(job: JobCtx, row: MerchantAccountRow): Promise<Statement[]> {
  const secrets = await openSecrets(job, row)
  const canDecryptAll =
    (secrets.api_key === null) === (row.sealed_api_key === null) &&
    (secrets.webhook_secret === null) === (row.sealed_webhook_secret === null)
  if (!canDecryptAll) return []
  const columns = await sealSecrets({ config: job.config, randomBytes }, row.id, secrets)
  const isUnchanged = sql`id = ${row.id} and sealed_api_key is ${row.sealed_api_key}
    and sealed_webhook_secret is ${row.sealed_webhook_secret}`
  return [update(merchantAccounts, columns, isUnchanged)]
}

/**
 * Encrypts with MERCHANT_KEY_SECRET what MERCHANT_KEY_SECRET_PREVIOUS has encrypted, some accounts at a time. Answers
 * how many accounts it has encrypted again.
 */
export async function resealMerchantAccounts(job: JobCtx): Promise<number> {
  const [, ...previousSecrets] = job.config.payments.secrets
  if (previousSecrets.length === 0) return 0
  const fingerprints = await Promise.all(previousSecrets.map(fingerprintSecret))
  const { sealed_with } = merchantAccounts
  const rows = await job.db.all(
    select(getTableColumns(merchantAccounts))
      .from(merchantAccounts)
      .where(and(inList(sql`${sealed_with}`, fingerprints), isNotNull(sealed_with)))
      .limit(accountsPerSweep),
  )
  const statements = (await Promise.all(rows.map((row) => buildReseal(job, row)))).flat()
  if (statements.length) await job.db.batch(statements)
  return statements.length
}
