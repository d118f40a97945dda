import type { Schema } from '../api'
import type { Tone } from './status'

export const campaignTones: Record<Schema['CampaignList']['status'], Tone> = {
  draft: 'none',
  scheduled: 'wait',
  calculating: 'wait',
  sending: 'wait',
  sent: 'good',
  failed: 'bad',
  cancelled: 'none',
}
