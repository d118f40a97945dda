import { asc, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { capturedWalletKeys } from '../../../db/schema/wallet.ts'
import { select } from '../../../db/select.ts'
import { insertAll, remove } from '../../../db/write.ts'
import { notFound } from '../../../domain/errors.ts'
import type { RootKey } from '../../../domain/wallet/google-callback.ts'
import type { CapturedKeys } from '../../../gateways/passes/capture.ts'

export type KeysCtx = Pick<JobCtx, 'db' | 'config'>

const { key_value, expires_at } = capturedWalletKeys

/** The root keys that callbacks are verified by under `capture`. */
export const createCapturedKeys = ({ db }: Pick<JobCtx, 'db'>): CapturedKeys => ({
  keys: () => db.all(select({ key_value, expires_at }).from(capturedWalletKeys).orderBy(asc(key_value))),
})

/** A caller who sets a key can sign callbacks, so this works only where no pass is real. */
export async function setCapturedKeys(ctx: KeysCtx, read: () => readonly RootKey[]): Promise<readonly RootKey[]> {
  if (!['development', 'test'].includes(ctx.config.environment)) throw notFound()
  const rows = [...new Map(read().map((key) => [key.key_value, key])).values()]
  await ctx.db.batch([remove(capturedWalletKeys, sql`1`), ...insertAll(capturedWalletKeys, rows)])
  return createCapturedKeys(ctx).keys()
}
