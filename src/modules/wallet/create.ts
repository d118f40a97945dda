import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit, abortUnless, commitPart } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import { update } from '../../db/write.ts'
import { AppError, editionArchived, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import { toHex } from '../../domain/text/encoding.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'
import { createDownloadToken, createPassToken, hashPassToken } from '../../domain/wallet/wallet-tokens.ts'
import {
  findWalletProvider,
  walletPassLifecycle,
  type WalletPlatform,
  type WalletProvider,
} from '../../domain/wallet/wallet.ts'
import type { GoogleResult } from '../../gateways/passes/passes.ts'
import { openEditions } from '../editions/index.ts'
import { loadEditionContent, loadPassContent } from './content.ts'
import type { IssueWalletPassInput } from './contract.ts'
import { nextChangeNumber } from './pass-changed.ts'
import { selectActivePass, type PassRow, type PurchaseForPass } from './queries.ts'

export interface IssuedPass {
  row: PassRow
  add_url: string
}

const serialBytes = 16

const createUnavailableError = (reason: string, detail: string, extra: Record<string, unknown> = {}) =>
  new AppError('wallet_pass_unavailable', detail, { extra: { reason, ...extra } })

function checkPurchase(ctx: Ctx, purchase: PurchaseForPass): void {
  const { status, is_wallet_enabled, has_pass_design } = purchase
  if (purchase.is_archived) throw editionArchived()
  if (purchase.is_erased) throw new AppError('user_erased', 'This customer was erased.')
  if (status !== 'active')
    throw createUnavailableError('purchase_not_active', 'Only an active purchase can have a wallet pass.', {
      current_status: status,
    })
  if (!is_wallet_enabled)
    throw createUnavailableError('product_not_for_wallet', 'The product of this purchase has no wallet passes.')
  if (!has_pass_design)
    throw createUnavailableError('no_pass_design', 'The edition has no pass design for this product.')
  // With an empty key anyone could forge the tokens of passes.
  if (ctx.config.linkSigningKey === '')
    throw createUnavailableError('not_configured', 'LINK_SIGNING_KEY is not set, so this service cannot issue passes.')
}

function chooseProvider(ctx: Ctx, platform: WalletPlatform): WalletProvider {
  const provider = findWalletProvider(ctx.config.wallet.vendors, platform)
  if (provider !== null) return provider
  throw invalid(fieldError(['platform'], 'platform_not_offered', 'This service issues no passes for this platform.'))
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
    waiting_reason: null,
    waiting_since: null,
    stored_at: null,
    voided_at: null,
    created_by: ctx.caller.id,
    voided_by: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

/** Fails when another request has issued the pass meanwhile, or the purchase is no longer as it was read. */
const insertPass = (row: PassRow, { id, status }: PurchaseForPass): Statement[] => [
  ...openEditions(row.edition_id),
  abortUnless(sql`exists (select 1 from purchases where id = ${id} and status = ${status})`),
  sql`insert into wallet_passes (id, organization_id, edition_id, purchase_id, platform, provider, serial_number,
      token_hash, status, change_number, changed_at, created_by, created_at, modified_at)
    values (${row.id}, ${row.organization_id}, ${row.edition_id}, ${row.purchase_id}, ${row.platform}, ${row.provider},
      ${row.serial_number}, ${row.token_hash}, ${row.status}, ${nextChangeNumber}, ${row.changed_at}, ${row.created_by}, ${row.created_at},
      ${row.modified_at})`,
  requireOneChange(),
  sql`insert into wallet_editions (edition_id, has_google_passes)
    values (${row.edition_id}, ${Number(row.platform === 'google')})
    on conflict do update set has_google_passes = 1 where excluded.has_google_passes > has_google_passes`,
]

const issuedMeanwhile = {
  'wallet_passes.purchase_id, wallet_passes.platform': () => new LostRace('the pass was issued meanwhile'),
}

async function issueApplePass(
  ctx: Ctx,
  purchase: PurchaseForPass,
  existingPass: PassRow | undefined,
): Promise<IssuedPass> {
  const row = existingPass ?? (await buildPass(ctx, purchase, 'apple'))
  const content = await loadPassContent(ctx, row)
  const token = await createDownloadToken(ctx.config.linkSigningKey, row.serial_number)
  const download_url = `${ctx.config.publicUrl}/wallet/apple/passes/${token}`
  const issuedPass = { row, add_url: await ctx.passes.createAddUrl({ platform: 'apple', content, download_url }) }
  return commit(ctx, issuedPass, existingPass ? [] : insertPass(row, purchase), issuedMeanwhile)
}

async function insertGooglePass(ctx: Ctx, purchase: PurchaseForPass): Promise<PassRow> {
  await commitPart(ctx, insertPass(await buildPass(ctx, purchase, 'google'), purchase), issuedMeanwhile)
  const [pass] = await ctx.db.all(selectActivePass(purchase.id, 'google'))
  if (!pass) throw new LostRace('the pass was voided meanwhile')
  return pass
}

function requireSuccess(result: GoogleResult): void {
  if (result.ok) return
  const isTransient = result.kind === 'transient'
  throw new AppError(
    'wallet_unavailable',
    isTransient
      ? 'Google Wallet does not answer. Send the request again in a minute.'
      : 'Google Wallet refuses the pass. Ask the operator to check the issuer, the service account and the design.',
    { extra: { reason: result.code }, headers: isTransient ? { 'retry-after': '60' } : {} },
  )
}

async function createGoogleUrl(ctx: Ctx, content: PassContent): Promise<string> {
  try {
    return await ctx.passes.createAddUrl({ platform: 'google', content })
  } catch (cause) {
    throw new AppError('wallet_unavailable', 'The service account for Google Wallet is invalid.', { cause })
  }
}

/**
 * The row is written before Google gets the pass, so that Google never has a pass that an erasure does not find. After
 * a crash the next request stores it again. When the pass changes meanwhile, the commit fails and Google gets it again.
 */
async function issueGooglePass(
  ctx: Ctx,
  purchase: PurchaseForPass,
  existingPass: PassRow | undefined,
): Promise<IssuedPass> {
  const row = existingPass ?? (await insertGooglePass(ctx, purchase))
  const content = await loadPassContent(ctx, row)
  const isStored = row.stored_at !== null
  if (!isStored) requireSuccess(await ctx.passes.storeGoogle(content, await loadEditionContent(ctx, row.edition_id)))
  const issuedPass = { row, add_url: await createGoogleUrl(ctx, content) }
  if (isStored) return commit(ctx, issuedPass, [])
  const { id, change_number, stored_at } = walletPasses
  const isUnchanged = and(eq(id, row.id), eq(change_number, row.change_number), isNull(stored_at))
  return commit(ctx, issuedPass, [update(walletPasses, { stored_at: ctx.now() }, isUnchanged), requireOneChange()])
}

/** Returns the active pass of a purchase on a platform, and issues one when there is none. */
export async function createWalletPass(
  ctx: Ctx,
  purchase: PurchaseForPass,
  { platform }: IssueWalletPassInput,
): Promise<IssuedPass> {
  chooseProvider(ctx, platform)
  checkPurchase(ctx, purchase)
  const [existingPass] = await ctx.db.all(selectActivePass(purchase.id, platform))
  return platform === 'google'
    ? issueGooglePass(ctx, purchase, existingPass)
    : issueApplePass(ctx, purchase, existingPass)
}
