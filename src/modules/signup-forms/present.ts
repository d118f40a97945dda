import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { buildSignupPageUrl } from '../../domain/consents/signups.ts'
import { toIso } from '../../domain/time/instants.ts'
import { presentEditionOrNull } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import type { SignupForm } from './contract.ts'
import type { SignupFormRow } from './queries.ts'

export const presentSignupForm = (row: SignupFormRow, ctx: Ctx): z.input<typeof SignupForm> => ({
  id: row.id,
  organization: presentOrganizationSummary(row, ctx),
  edition: presentEditionOrNull(row),
  name: row.name,
  title: row.title,
  text: row.text,
  languages: [...row.languages],
  consent_ids: [...row.consent_ids],
  allowed_sites: [...row.allowed_sites],
  redirect_url: row.redirect_url,
  mails_per_hour: row.mails_per_hour,
  is_active: row.is_active,
  public_url: buildSignupPageUrl(ctx.config.publicUrl, row.id),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
