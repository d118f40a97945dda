import type { Ctx } from '../../../context.ts'
import {
  listRolesAt,
  type RoleCode,
  managers,
  organizationReaders,
  roleCodes,
} from '../../../domain/accounts/access.ts'
import { fingerprintSecret } from '../../../domain/accounts/secret-seal.ts'
import type { FactSubject } from '../../../domain/editions/health/facts.ts'
import type { EditionFacts } from '../../../domain/editions/health/index.ts'
import { type Channel, noProvider } from '../../../domain/messaging/messaging.ts'
import { isReady } from '../../../domain/refunds/merchant-accounts.ts'
import type { EditionRow } from '../queries.ts'
import {
  selectConsents,
  selectEndpoints,
  selectFacts,
  type MerchantAccountFactRow,
  selectMessages,
  selectProducts,
  selectUnfinishedImports,
} from './health-fact-rows.ts'

/** Decides which objects the caller may see. Endpoints and imports require the same roles as in their lists. */
function createAccessChecks(ctx: Ctx, edition: EditionRow) {
  const roles = (editionId: string | null) =>
    listRolesAt(ctx.caller, {
      organization_id: edition.organization_id,
      editions: editionId === null ? [] : [editionId],
    })
  const has = (editionId: string | null, allowedRoles: readonly RoleCode[]) =>
    ctx.caller.is_superuser || roles(editionId).some((role) => allowedRoles.includes(role))
  return {
    canRead: (editionId: string | null) => has(editionId, roleCodes),
    canManage: (editionId: string | null) => has(editionId, managers),
    canReadAccounts: has(null, organizationReaders),
  }
}

async function checkMerchantAccount(
  { config }: Ctx,
  row: MerchantAccountFactRow | null,
  isVisible: boolean,
): Promise<EditionFacts['merchant_account']> {
  if (row === null) return null
  const { id, name, type, is_active, supported_currencies, sealed_with } = row
  const fingerprints = await Promise.all(config.payments.secrets.map(fingerprintSecret))
  const account = { type, is_active, has_usable_key: fingerprints.some((fingerprint) => fingerprint === sealed_with) }
  return { id, name, is_hidden: !isVisible, supported_currencies, is_ready: isReady(account, config.environment) }
}

const mapChannels = <Value>(getValue: (channel: Channel) => Value): Record<Channel, Value> => ({
  email: getValue('email'),
  sms: getValue('sms'),
})

/** Loads everything that the checks need, in one round trip. `edition` can be a row that is not stored yet. */
export async function loadFacts(ctx: Ctx, edition: EditionRow): Promise<EditionFacts> {
  const now = ctx.now()
  const [[facts], products, messages, consents, endpoints, imports] = await ctx.db.batch([
    selectFacts(edition, now),
    selectProducts(edition),
    selectMessages(edition),
    selectConsents(edition),
    selectEndpoints(edition, now),
    selectUnfinishedImports(edition, now),
  ])
  if (!facts) throw new Error('a select without a table returns one row')
  const { scheduled_channels, campaign_waits, service_waits, has_passes, ...otherFacts } = facts
  const access = createAccessChecks(ctx, edition)
  const subject = (row: { id: string; name: string }, isVisible: boolean): FactSubject => ({
    id: row.id,
    name: row.name,
    is_hidden: !isVisible,
  })
  return {
    now,
    edition,
    ...otherFacts,
    has_scheduled_campaign: mapChannels((channel) => scheduled_channels.includes(channel)),
    outages: {
      ...mapChannels((channel) => campaign_waits[channel] ?? service_waits[channel] ?? null),
      passes: has_passes ? (service_waits.apple ?? service_waits.google ?? null) : null,
    },
    has_provider: mapChannels((channel) => ctx.config[channel].name !== noProvider),
    merchant_account: await checkMerchantAccount(ctx, facts.merchant_account, access.canReadAccounts),
    products: products.map((row) => ({ ...row, is_hidden: false })),
    messages: messages.map((row) => ({
      // Everyone with a role in the organisation may see templates without an edition.
      ...subject({ id: row.id, name: row.title }, row.edition_id === null || access.canRead(row.edition_id)),
      type: row.type,
      subject: row.subject,
      has_blocks: row.has_blocks,
    })),
    consents: consents.map((row) => ({
      ...subject(row, access.canRead(row.edition_id)),
      type: row.type,
      text: row.text,
    })),
    endpoints: endpoints.map((row) => ({
      ...subject(row, access.canManage(row.edition_id)),
      is_active: row.is_active,
      disabled_reason: row.disabled_reason,
      has_exhausted: row.has_exhausted,
      waiting_reason: row.waiting_reason,
    })),
    unfinished_imports: imports.map((row) => subject(row, access.canManage(edition.id))),
  }
}
