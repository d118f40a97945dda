import { managers } from '../../../domain/accounts/access.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { CampaignDetail } from '../contract.ts'

const tag = 'Campaigns' as const

export const pauseCampaign = operation({
  id: 'pauseCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'pause'),
  summary: 'Pause a campaign',
  description:
    'Holds a scheduled or running campaign, which keeps its status. Messages of which the provider is just being told are still sent and counted, and no others until you resume it. People who unsubscribe meanwhile get nothing. Pausing a paused campaign changes nothing.',
  roles: managers,
  response: CampaignDetail,
  errors: ['invalid_transition'],
})

export const resumeCampaign = operation({
  id: 'resumeCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'resume'),
  summary: 'Resume a paused campaign',
  description:
    'A running campaign goes on, in its send window if it has one. A scheduled campaign starts at its time, or at once with what stands there now if its time has passed. Resuming a campaign that is not paused changes nothing.',
  agentAccess: 'confirm',
  roles: managers,
  response: CampaignDetail,
  errors: ['invalid_transition', 'campaign_not_ready', 'approval_required', 'edition_archived'],
})
