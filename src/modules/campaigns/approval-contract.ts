import { z } from '@hono/zod-openapi'
import { approvalLifecycle, maxApprovalNoteLength } from '../../domain/campaigns/approval.ts'
import { Timestamp } from '../../http/fields.ts'

const StoredNote = z.string().max(maxApprovalNoteLength).nullable()

export const CampaignApproval = z
  .object({
    status: z.enum(approvalLifecycle.states).openapi({
      description:
        '`outdated`: the campaign, its message, its segment or its sender has changed since the request, so the approval has to be requested again.',
    }),
    requested_by: z.string().openapi({ description: 'The account that requested the approval.' }),
    requested_at: Timestamp,
    request_note: StoredNote.openapi({ description: 'The note of the request; null without one.' }),
    decided_by: z.string().nullable().openapi({
      description: 'The account that approved or rejected the campaign; null until then.',
    }),
    decided_at: Timestamp.nullable().openapi({ description: 'Null until the request is decided.' }),
    note: StoredNote.openapi({ description: 'The note of the decision; null without one.' }),
  })
  .openapi('CampaignApproval')
