import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { mayAt, pickOrganizationRoles, roleCodes } from '../../domain/accounts/access.ts'
import { toIso } from '../../domain/time/instants.ts'
import { presentEditionOrNull } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import type { Consent } from './contract.ts'
import type { ConsentRow } from './queries.ts'

/** Customers of all editions answer the organisation's consents, so only roles in the organisation see the counts. */
const canReadStats = (ctx: Ctx, { organization_id, edition_id }: ConsentRow): boolean =>
  edition_id !== null || mayAt(ctx.caller, pickOrganizationRoles(roleCodes), { organization_id, editions: [] })

export function presentConsent(row: ConsentRow, ctx: Ctx): z.input<typeof Consent> {
  const { title, text, link_url, given, skipped, withdrawn, expired } = row
  return {
    id: row.id,
    organization: presentOrganizationSummary(row, ctx),
    edition: presentEditionOrNull(row),
    key: row.key,
    name: row.name,
    title,
    text,
    link_url,
    type: row.type,
    channels: row.channels,
    legal_basis: row.legal_basis,
    is_required: row.is_required,
    is_active: row.is_active,
    collect_at: row.collect_at,
    position: row.position,
    expires_after_days: row.expires_after_days,
    reconsent_on_change: row.reconsent_on_change,
    version: row.wording_version,
    content_hash: row.content_hash,
    stats: canReadStats(ctx, row) ? { given, skipped, withdrawn, expired } : null,
    has_records: row.records > 0,
    metadata: row.metadata,
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}
