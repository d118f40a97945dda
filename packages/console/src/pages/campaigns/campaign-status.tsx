import { Group } from '@mantine/core'
import { campaignTones } from '../../parts/campaign-tones'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'
import type { Approval, Campaign } from './types'

const t = await loadWords('campaigns')

const approvalTones: Record<Approval['status'], Tone> = {
  requested: 'act',
  approved: 'good',
  rejected: 'bad',
  outdated: 'act',
}

/** The status, with what keeps the campaign from going on. */
export const CampaignStatus = ({ campaign: { status, is_paused, approval } }: { campaign: Campaign }) => (
  <Group gap={6} component="span">
    <Status tone={campaignTones[status]} label={t.statuses[status]} />
    {is_paused && <Status tone="act" label={t.paused} />}
    {approval && (status === 'draft' || status === 'scheduled') && <ApprovalStatus status={approval.status} />}
  </Group>
)

export const ApprovalStatus = ({ status }: { status: Approval['status'] }) => (
  <Status tone={approvalTones[status]} label={t.approvalStatuses[status]} />
)
