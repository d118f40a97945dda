import { seedReady, type CampaignRow, type Place } from './seed-campaigns.ts'
import { inRecipientStore, seedRecipients } from './seed-recipients.ts'
import type { CampaignStatus } from '../../src/domain/campaigns/lifecycle.ts'

/** A campaign in this status whose object knows it is there. */
export async function inStatus(
  place: Place,
  status: CampaignStatus,
  columns: Partial<CampaignRow> = {},
): Promise<string> {
  const run = ['draft', 'scheduled'].includes(status) ? 0 : 1
  const { campaign } = await seedReady(place, { status, run, scheduled_at: Date.now() + 86_400_000, ...columns })
  if (run) {
    if (status === 'sent') await seedRecipients(campaign.id, 3)
    await inRecipientStore(campaign.id, (store) =>
      store.change({ run, status, projected: 1, step: status === 'calculating' ? 'content' : '' }),
    )
  }
  return campaign.id
}
