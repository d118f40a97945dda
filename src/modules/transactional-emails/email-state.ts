import type { JobCtx } from '../../context.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import type { RowOf } from '../../db/select.ts'
import { describeMissingProvider, noProvider, providerNotConfigured } from '../../domain/messaging/messaging.ts'
import { transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { describeWait, presentWait } from '../../domain/waiting.ts'

export const emailStateColumns = {
  status: transactionalEmails.status,
  error_code: transactionalEmails.error_code,
  waiting_reason: transactionalEmails.waiting_reason,
  waiting_since: transactionalEmails.waiting_since,
  due_at: transactionalEmails.due_at,
  sent_at: transactionalEmails.sent_at,
  created_at: transactionalEmails.created_at,
}

export type EmailStateRow = RowOf<typeof emailStateColumns>

export const presentEmailState = (row: EmailStateRow, ctx: Pick<JobCtx, 'config' | 'now'>) => ({
  status: row.status,
  error_code: row.error_code,
  ...presentWait(describeWait(row, row.due_at, ctx)),
  sent_at: toIsoOrNull(row.sent_at),
  created: toIso(row.created_at),
})

/** The state of an e-mail before its first attempt. Without a provider it waits from the start. */
export function describeNewEmail({ config, now }: Pick<JobCtx, 'config' | 'now'>): EmailStateRow {
  const created_at = now()
  const hasProvider = config.email.name !== noProvider
  return {
    status: transactionalEmailLifecycle.initial,
    error_code: hasProvider ? null : providerNotConfigured,
    waiting_reason: hasProvider ? null : describeMissingProvider('email'),
    waiting_since: hasProvider ? null : created_at,
    due_at: created_at,
    sent_at: null,
    created_at,
  }
}

/** The columns that every new e-mail has. */
export function buildNewEmail(ctx: Pick<JobCtx, 'config' | 'newId' | 'now'>) {
  const state = describeNewEmail(ctx)
  return {
    ...state,
    id: ctx.newId('transactional_email'),
    error_detail: state.waiting_reason ?? '',
    modified_at: state.created_at,
  }
}
