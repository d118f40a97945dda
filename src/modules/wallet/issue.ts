import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { toHex } from '../../domain/text/encoding.ts'
import { AppError, editionArchived, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import {
  findWalletProvider,
  walletPassLifecycle,
  type WalletPlatform,
  type WalletProvider,
} from '../../domain/wallet/wallet.ts'
import { createDownloadToken, createPassToken, hashPassToken } from '../../domain/wallet/wallet-tokens.ts'
import { openEditions } from '../editions/index.ts'
import { loadPassContent } from './content.ts'
import type { IssueWalletPassInput } from './contract.ts'
import { nextChangeNumber } from './pass-changed.ts'
import { selectActivePass, type PassRow, type PurchaseForPass } from './queries.ts'

export interface IssuedPass {
  row: PassRow
  add_url: string
}

const serialBytes = 16

const unavailable = (reason: string, detail: string, extra: Record<string, unknown> = {}) =>
  new AppError('wallet_pass_unavailable', detail, { extra: { reason, ...extra } })

function checkPurchase(ctx: Ctx, purchase: PurchaseForPass): void {
  const { status, is_wallet_enabled, has_pass_design } = purchase
  if (purchase.is_archived) throw editionArchived()
  if (status !== 'active')
    throw unavailable('purchase_not_active', 'Only an active purchase can have a wallet pass.', {
      current_status: status,
    })
  if (!is_wallet_enabled)
    throw unavailable('product_not_for_wallet', 'The product of this purchase has no wallet passes.')
  if (!has_pass_design) throw unavailable('no_pass_design', 'The edition has no pass design for this product.')
  // With an empty key anyone could forge the tokens of passes.
  if (ctx.config.linkSigningKey === '')
    throw unavailable('not_configured', 'LINK_SIGNING_KEY is not set, so this service cannot issue passes.')
}

function chooseProvider(ctx: Ctx, platform: WalletPlatform): WalletProvider {
  const provider = findWalletProvider(ctx.config.wallet.vendors, platform)
  if (provider !== null) return provider
  throw invalid(fieldError(['platform'], 'platform_not_offered', 'This service issues no passes for this platform.'))
}

/** Creates the link that adds a pass to a wallet. */
async function createAddUrl(ctx: Ctx, row: PassRow): Promise<string> {
  const content = await loadPassContent(ctx, row)
  if (row.platform === 'google') return ctx.passes.createAddUrl({ platform: 'google', content })
  const token = await createDownloadToken(ctx.config.linkSigningKey, row.serial_number)
  const download_url = `${ctx.config.publicUrl}/wallet/apple/passes/${token}`
  return ctx.passes.createAddUrl({ platform: 'apple', content, download_url })
}

async function buildPass(ctx: Ctx, purchase: PurchaseForPass, platform: WalletPlatform): Promise<PassRow> {
  const now = ctx.now()
  const serial_number = `${toHex(ctx.randomBytes(serialBytes))}${ctx.config.cell}`
  const token = await createPassToken(ctx.config.linkSigningKey, serial_number)
  return {
    id: ctx.newId('wallet_pass'),
    organization_id: purchase.organization_id,
    edition_id: purchase.edition_id,
    purchase_id: purchase.id,
    platform,
    provider: chooseProvider(ctx, platform),
    serial_number,
    token_hash: platform === 'apple' ? await hashPassToken(token) : null,
    status: walletPassLifecycle.initial,
    registrations_count: 0,
    added_at: null,
    removed_at: null,
    callback_expires_at: null,
    change_number: 0,
    changed_at: now,
    due_at: null,
    claimed_until: null,
    attempts: 0,
    update_error: null,
    voided_at: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

const insertPass = (row: PassRow): Statement => sql`insert into wallet_passes (id, organization_id, edition_id,
    purchase_id, platform, provider, serial_number, token_hash, status, change_number, changed_at, created_at,
    modified_at)
  values (${row.id}, ${row.organization_id}, ${row.edition_id}, ${row.purchase_id}, ${row.platform}, ${row.provider},
    ${row.serial_number}, ${row.token_hash}, ${row.status}, ${nextChangeNumber}, ${row.changed_at}, ${row.created_at},
    ${row.modified_at})`

/** Returns the active pass of a purchase on a platform, and issues one when there is none. */
export async function issuePass(
  ctx: Ctx,
  purchase: PurchaseForPass,
  { platform }: IssueWalletPassInput,
): Promise<IssuedPass> {
  chooseProvider(ctx, platform)
  checkPurchase(ctx, purchase)
  const [existing] = await ctx.db.all(selectActivePass(purchase.id, platform))
  const row = existing ?? (await buildPass(ctx, purchase, platform))
  const issued = { row, add_url: await createAddUrl(ctx, row) }
  if (existing) return commit(ctx, issued, [])
  return commit(
    ctx,
    issued,
    [
      ...openEditions(purchase.edition_id),
      abortUnless(sql`exists (select 1 from purchases where id = ${purchase.id} and status = ${purchase.status})`),
      insertPass(row),
      requireOneChange(),
    ],
    // Another request issued the pass meanwhile.
    { 'wallet_passes.purchase_id, wallet_passes.platform': () => new LostRace('the pass was issued meanwhile') },
  )
}
