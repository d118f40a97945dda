import { next } from '../seeding/rows.ts'
import {
  type CampaignRow,
  seedCampaigns,
  seedReady,
  ignoreStarts,
  inRecipientStore,
  seedRecipients,
} from '../seeding/messaging/campaigns.ts'
import type { World } from '../world.ts'
import { pathId, queryId, type SampleOf } from './sample.ts'

const tenant = ({ a }: World) => ({ organization: a.id, edition: a.editions[0].id })
const campaignIn = ({ a, b }: World) => pathId('id', b.editions[0].campaign, a.editions[1].campaign)

/** Ready to be sent, with an object that does nothing of it by itself. */
const fresh = async (world: World, columns: Partial<CampaignRow> = {}) => {
  const { campaign } = await seedReady(tenant(world), columns)
  await ignoreStarts(campaign.id)
  return { path: { id: campaign.id }, references: [campaignIn(world)] }
}

/** At noon, which no change of clocks skips. */
const nextMonth = () => `${new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)}T12:00:00`

export const campaignSamples: Record<string, SampleOf> = {
  listCampaigns: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [queryId('edition_id', b.editions[0].id, a.editions[1].id), queryId('organization_id', b.id)],
    }),
    fill: (world, count) => seedCampaigns(tenant(world), world.a.editions[0].segment, count),
  },

  createCampaign: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        segment_id: world.a.editions[0].segment,
        name: `Early birds ${next()}`,
        channel: 'email',
        email_message_id: world.a.editions[0].message,
        sms_body: { en: 'Hello {{ customer.first_name }}' },
      },
    }),
  },

  getCampaign: {
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [campaignIn(world)] }),
  },

  updateCampaign: {
    // Not the segment and the text, which come back in another shape.
    make: (world) => ({
      path: { id: world.a.editions[0].draft },
      body: { name: `Early birds ${next()}`, channel: 'email', email_message_id: world.a.editions[0].message },
      references: [campaignIn(world)],
    }),
  },

  deleteCampaign: { make: (world) => fresh(world) },

  scheduleCampaign: {
    make: async (world) => ({ ...(await fresh(world)), body: { scheduled_at: nextMonth() } }),
  },

  sendCampaignNow: { make: (world) => fresh(world) },

  cancelCampaign: { make: (world) => fresh(world, { status: 'scheduled' }) },

  getCampaignStats: {
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [campaignIn(world)] }),
  },

  listCampaignRecipients: {
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [campaignIn(world)] }),
    fill: async (world, count) => {
      const { campaign } = world.a.editions[0]
      const [sent, failed] = await seedRecipients(campaign, count)
      await inRecipientStore(campaign, (store) => [sent, failed].forEach((one) => one && store.erase(one.n)))
    },
    sortValue: { address: (item) => item['address'] || null },
  },

  retryFailedCampaignRecipients: {
    make: async (world) => {
      const { campaign } = await seedReady(tenant(world), { status: 'sent', run: 1 })
      await seedRecipients(campaign.id, 3, { run: 1_000_000 })
      return { path: { id: campaign.id }, references: [campaignIn(world)] }
    },
  },
}
