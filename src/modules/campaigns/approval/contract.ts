import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { maxApprovalNoteLength } from '../../../domain/campaigns/approval.ts'
import { RequiredText } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { CampaignDetail } from '../contract.ts'

const tag = 'Campaigns' as const

const OptionalNote = z.object({ note: z.string().max(maxApprovalNoteLength).nullish() })
const RequiredNote = z.object({ note: RequiredText(maxApprovalNoteLength) })

export type OptionalNoteInput = z.output<typeof OptionalNote>
export type RequiredNoteInput = z.output<typeof RequiredNote>

const errors = ['invalid_transition', 'edition_archived'] as const

export const requestCampaignApproval = operation({
  id: 'requestCampaignApproval',
  tag,
  ...action('/v1/campaigns', 'cmp', 'request-approval'),
  summary: 'Request the approval of a campaign',
  description:
    'Asks other members to approve the campaign as it is now. Where the organisation has `requires_campaign_approval`, a campaign is scheduled and sent only with an approval. Elsewhere it is a record.',
  roles: managers,
  body: OptionalNote,
  example: { note: 'The prices are those of the new list.' },
  response: CampaignDetail,
  errors,
})

export const approveCampaign = operation({
  id: 'approveCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'approve'),
  summary: 'Approve a campaign',
  description:
    'Approves what was requested. Neither the account that requested it nor the one that last changed the content may do this: 409 `four_eyes_required`. Send `If-Match` with the ETag of the campaign that you have read, so that you approve nothing else.',
  agentAccess: 'confirm',
  roles: managers,
  body: OptionalNote,
  example: {},
  response: CampaignDetail,
  errors: [...errors, 'four_eyes_required'],
})

export const rejectCampaign = operation({
  id: 'rejectCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'reject'),
  summary: 'Reject a campaign',
  description:
    'Rejects a request, or takes an approval back until the campaign starts. A scheduled campaign then fails at its start, and the rest of one that stopped half-way is not sent.',
  agentAccess: 'confirm',
  roles: managers,
  body: RequiredNote,
  example: { note: 'The subject names the wrong day.' },
  response: CampaignDetail,
  errors,
})
