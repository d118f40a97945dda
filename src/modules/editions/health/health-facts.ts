import type { Ctx } from '../../../context.ts'
import { rolesAt, type RoleCode } from '../../../domain/accounts/access.ts'
import type { EditionFacts } from '../../../domain/editions/health/index.ts'
import type { ProductFacts, FactSubject } from '../../../domain/editions/health/facts.ts'
import { isReady } from '../../../domain/refunds/merchant-accounts.ts'
import { fingerprintOf } from '../../../domain/accounts/secret-seal.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import {
  consentsOf,
  endpointsOf,
  factsOf,
  messagesOf,
  type ProductFactRow,
  productsOf,
  unfinishedImportsOf,
} from './health-fact-rows.ts'
import type { EditionRow } from '../queries.ts'

const organizationRoles: readonly RoleCode[] = ['OA', 'OM', 'OV']
const managers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

/**
 * Who may see rows of the organisation itself, and who may see endpoints and imports: the same roles as in their lists.
 */
function visibilityOf(ctx: Ctx, edition: EditionRow) {
  const roles = (editionId: string | null) =>
    rolesAt(ctx.caller, {
      organization_id: edition.organization_id,
      editions: editionId === null ? [] : [editionId],
    })
  const has = (editionId: string | null, allowed: readonly RoleCode[]) =>
    ctx.caller.is_superuser || roles(editionId).some((role) => allowed.includes(role))
  return {
    reads: (editionId: string | null) => has(editionId, [...organizationRoles, 'EA', 'EM', 'EV']),
    manages: (editionId: string | null) => has(editionId, managers),
  }
}

const texts = (json: string) => JSON.parse(json) as TranslatedDict

function productOf(row: ProductFactRow): ProductFacts {
  const { is_draft, is_variant_required, is_pickup_required, is_wallet_enabled, ...others } = row
  return {
    ...others,
    is_hidden: false,
    is_draft: is_draft === 1,
    name_translations: texts(row.name_translations),
    is_variant_required: is_variant_required === 1,
    is_pickup_required: is_pickup_required === 1,
    is_wallet_enabled: is_wallet_enabled === 1,
    has_active_variant: row.has_active_variant === 1,
    has_pass_design: row.has_pass_design === 1,
  }
}

const editionOf = (row: EditionRow): EditionFacts['edition'] => ({
  ...row,
  is_draft: row.is_draft === 1,
  is_archived: row.is_archived === 1,
  default_language: row.default_language as Language,
  enabled_languages: JSON.parse(row.enabled_languages) as Language[],
  meta_title: texts(row.meta_title),
  meta_description: texts(row.meta_description),
})

function feeRuleOf(json: string | null): EditionFacts['fee_rule'] {
  if (json === null) return null
  const { is_active, currency } = JSON.parse(json) as { is_active: number; currency: string }
  return { is_active: is_active === 1, currency }
}

interface MerchantAccountFacts {
  type: string
  is_active: number
  supported_currencies: string[]
  /** What sealed its key; null where it has none. */
  sealed_with: string | null
}

async function merchantAccountOf({ config }: Ctx, json: string | null): Promise<EditionFacts['merchant_account']> {
  if (json === null) return null
  const { type, is_active, supported_currencies, sealed_with } = JSON.parse(json) as MerchantAccountFacts
  const usable = await Promise.all(config.payments.secrets.map(fingerprintOf))
  const account = { type, is_active: is_active === 1, has_usable_key: usable.some((one) => one === sealed_with) }
  return { supported_currencies, is_ready: isReady(account, config.environment) }
}

/** Everything that the checks look at, in one round trip; `edition` may be a row that is not stored yet. */
export async function loadFacts(ctx: Ctx, edition: EditionRow): Promise<EditionFacts> {
  const now = ctx.now()
  const [[facts], products, messages, consents, endpoints, imports] = await ctx.db.batch([
    factsOf(edition, now),
    productsOf(edition),
    messagesOf(edition),
    consentsOf(edition),
    endpointsOf(edition, now),
    unfinishedImportsOf(edition, now),
  ])
  if (!facts) throw new Error('a select without a table answers one row')
  const visibility = visibilityOf(ctx, edition)
  const subject = (row: { id: string; name: string }, isShown: boolean): FactSubject => ({
    id: row.id,
    name: row.name,
    is_hidden: !isShown,
  })
  return {
    now,
    edition: editionOf(edition),
    has_event: facts.has_event === 1,
    merchant_account: await merchantAccountOf(ctx, facts.merchant_account),
    fee_rule: feeRuleOf(facts.fee_rule),
    order_currencies: JSON.parse(facts.order_currencies) as string[],
    has_pickup_point: facts.has_pickup_point === 1,
    has_sms_campaign: facts.has_sms_campaign === 1,
    is_sender_verified: facts.is_sender_verified === 1,
    has_marketing_segment: facts.has_marketing_segment === 1,
    has_stuck_refund: facts.has_stuck_refund === 1,
    has_stalled_refund_batch: facts.has_stalled_refund_batch === 1,
    products: products.map(productOf),
    messages: messages.map((row) => ({
      // Templates without an edition are shown to everybody who has a role in the organisation.
      ...subject({ id: row.id, name: row.title }, row.edition_id === null || visibility.reads(row.edition_id)),
      type: row.type,
      subject: texts(row.subject),
      has_blocks: row.has_blocks === 1,
    })),
    consents: consents.map((row) => ({
      ...subject(row, visibility.reads(row.edition_id)),
      type: row.type,
      text: texts(row.text),
    })),
    endpoints: endpoints.map((row) => ({
      ...subject(row, visibility.manages(row.edition_id)),
      is_active: row.is_active === 1,
      disabled_reason: row.disabled_reason,
      has_exhausted: row.has_exhausted === 1,
    })),
    unfinished_imports: imports.map((row) => subject(row, visibility.manages(edition.id))),
  }
}
