import type { Ctx, JobCtx } from '../../context.ts'
import { fingerprintSecret, openSecret, sealSecret } from '../../domain/accounts/secret-seal.ts'
import { AppError } from '../../domain/errors.ts'
import type { MerchantAccountRow } from './queries.ts'

const sealedColumns = { api_key: 'sealed_api_key', webhook_secret: 'sealed_webhook_secret' } as const

type SecretName = keyof typeof sealedColumns
type AccountSecrets = Record<SecretName, string | null>

type SealedRow = Pick<MerchantAccountRow, 'id' | 'sealed_api_key' | 'sealed_webhook_secret' | 'sealed_with'>
type SealedColumns = Omit<SealedRow, 'id'>
export type SealCtx = Pick<Ctx, 'config' | 'randomBytes'>

/** Decrypts both secrets of an account. A secret is null when it is not set or no secret of the Worker decrypts it. */
export async function openSecrets({ config }: Pick<JobCtx, 'config'>, row: SealedRow): Promise<AccountSecrets> {
  const decrypt = async (name: SecretName): Promise<string | null> => {
    const column = sealedColumns[name]
    const sealedSecret = row[column]
    return sealedSecret === null ? null : openSecret(config.payments.secrets, { id: row.id, column }, sealedSecret)
  }
  return { api_key: await decrypt('api_key'), webhook_secret: await decrypt('webhook_secret') }
}

/** Encrypts the secrets of an account. Throws 503 when the Worker has no secret to encrypt with. */
export async function sealSecrets(
  { config, randomBytes }: SealCtx,
  id: string,
  secrets: AccountSecrets,
): Promise<SealedColumns> {
  if (secrets.api_key === null && secrets.webhook_secret === null)
    return { sealed_api_key: null, sealed_webhook_secret: null, sealed_with: null }
  const [sealingSecret] = config.payments.secrets
  if (sealingSecret === undefined)
    throw new AppError('sealing_unavailable', 'Keys of payment providers are not accepted at present.', {
      cause: new Error('MERCHANT_KEY_SECRET is not set.'),
    })
  const encrypt = async (name: SecretName): Promise<string | null> => {
    const secret = secrets[name]
    if (secret === null) return null
    return sealSecret(sealingSecret, { id, column: sealedColumns[name] }, randomBytes, secret)
  }
  return {
    sealed_api_key: await encrypt('api_key'),
    sealed_webhook_secret: await encrypt('webhook_secret'),
    sealed_with: await fingerprintSecret(sealingSecret),
  }
}

export const getLastFour = (key: string | null): string | null => (key === null ? null : key.slice(-4))

/**
 * Builds the columns that change with the secrets; `{}` when none changes. A secret that cannot be decrypted is
 * removed.
 */
export async function buildSecretChanges(
  ctx: SealCtx & Pick<Ctx, 'now'>,
  row: MerchantAccountRow,
  input: Partial<Record<SecretName, string | null | undefined>>,
): Promise<Partial<MerchantAccountRow>> {
  const currentSecrets = await openSecrets(ctx, row)
  const isChanged = (name: SecretName): boolean => {
    const value = input[name]
    if (value === undefined) return false
    return value === null ? row[sealedColumns[name]] !== null : value !== currentSecrets[name]
  }
  const isNewKey = isChanged('api_key')
  const isNewSecret = isChanged('webhook_secret')
  if (!isNewKey && !isNewSecret) return {}
  const now = ctx.now()
  const api_key = isNewKey ? (input.api_key ?? null) : currentSecrets.api_key
  const webhook_secret = isNewSecret ? (input.webhook_secret ?? null) : currentSecrets.webhook_secret
  const computeSetAt = (secret: string | null, isNew: boolean, before: number | null): number | null => {
    if (secret === null) return null
    return isNew ? now : before
  }
  return {
    ...(await sealSecrets(ctx, row.id, { api_key, webhook_secret })),
    api_key_last4: getLastFour(api_key),
    api_key_set_at: computeSetAt(api_key, isNewKey, row.api_key_set_at),
    webhook_secret_set_at: computeSetAt(webhook_secret, isNewSecret, row.webhook_secret_set_at),
  }
}
