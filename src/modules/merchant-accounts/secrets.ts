import type { Ctx, JobCtx } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { fingerprintSecret, openSecret, sealSecret } from '../../domain/accounts/secret-seal.ts'
import type { MerchantAccountRow } from './queries.ts'

/** The columns with what is sealed. */
const sealedColumns = { api_key: 'sealed_api_key', webhook_secret: 'sealed_webhook_secret' } as const

type SecretName = keyof typeof sealedColumns
type AccountSecrets = Record<SecretName, string | null>

type SealedRow = Pick<MerchantAccountRow, 'id' | 'sealed_api_key' | 'sealed_webhook_secret' | 'sealed_with'>
type SealedColumns = Omit<SealedRow, 'id'>
export type Sealing = Pick<Ctx, 'config' | 'randomBytes'>

/** Both secrets of an account in the clear; null for one that is not set, or that no secret of the Worker opens. */
export async function openSecrets({ config }: Pick<JobCtx, 'config'>, row: SealedRow): Promise<AccountSecrets> {
  const open = async (name: SecretName): Promise<string | null> => {
    const column = sealedColumns[name]
    const sealed = row[column]
    return sealed === null ? null : openSecret(config.payments.secrets, { id: row.id, column }, sealed)
  }
  return { api_key: await open('api_key'), webhook_secret: await open('webhook_secret') }
}

/** The columns for these secrets of an account; 503 where the Worker has nothing to seal with. */
export async function sealSecrets(
  { config, randomBytes }: Sealing,
  id: string,
  secrets: AccountSecrets,
): Promise<SealedColumns> {
  if (secrets.api_key === null && secrets.webhook_secret === null)
    return { sealed_api_key: null, sealed_webhook_secret: null, sealed_with: null }
  const [current] = config.payments.secrets
  if (current === undefined)
    throw new AppError('sealing_unavailable', 'Keys of payment providers are not accepted at present.', {
      cause: new Error('MERCHANT_KEY_SECRET is not set.'),
    })
  const seal = async (name: SecretName): Promise<string | null> => {
    const [column, text] = [sealedColumns[name], secrets[name]]
    return text === null ? null : sealSecret(current, { id, column }, randomBytes, text)
  }
  return {
    sealed_api_key: await seal('api_key'),
    sealed_webhook_secret: await seal('webhook_secret'),
    sealed_with: await fingerprintSecret(current),
  }
}

/** Enough to distinguish keys in a list. */
export const lastFour = (key: string | null): string | null => (key === null ? null : key.slice(-4))

/** The columns of secrets after a change of them; none where nothing changes. A secret that nothing opens is dropped. */
export async function changedSecrets(
  ctx: Sealing & Pick<Ctx, 'now'>,
  row: MerchantAccountRow,
  given: Partial<Record<SecretName, string | null | undefined>>,
): Promise<Partial<MerchantAccountRow>> {
  const known = await openSecrets(ctx, row)
  const isChanged = (name: SecretName): boolean => {
    const value = given[name]
    if (value === undefined) return false
    return value === null ? row[sealedColumns[name]] !== null : value !== known[name]
  }
  const [isNewKey, isNewSecret] = [isChanged('api_key'), isChanged('webhook_secret')]
  if (!isNewKey && !isNewSecret) return {}
  const now = ctx.now()
  const api_key = isNewKey ? (given.api_key ?? null) : known.api_key
  const webhook_secret = isNewSecret ? (given.webhook_secret ?? null) : known.webhook_secret
  const setAt = (secret: string | null, isNew: boolean, before: number | null): number | null => {
    if (secret === null) return null
    return isNew ? now : before
  }
  return {
    ...(await sealSecrets(ctx, row.id, { api_key, webhook_secret })),
    api_key_last4: lastFour(api_key),
    api_key_set_at: setAt(api_key, isNewKey, row.api_key_set_at),
    webhook_secret_set_at: setAt(webhook_secret, isNewSecret, row.webhook_secret_set_at),
  }
}
