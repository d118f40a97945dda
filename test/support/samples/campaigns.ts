import { replaceApprovalRequest } from '../../../src/db/campaign-approvals.ts'
import {
  type CampaignRow,
  seedCampaigns,
  seedLinks,
  seedReady,
  ignoreStarts,
  inRecipientStore,
  seedRecipients,
} from '../seeding/messaging/campaigns.ts'
import { next, write } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { makeTestBody } from './emails.ts'
import { buildPathId, buildQueryId, type SampleOf, getFirstPlace } from './sample.ts'

const referToCampaign = ({ a, b }: World) => buildPathId('id', b.editions[0].campaign, a.editions[1].campaign)

/** A campaign that is ready to send, and whose object starts nothing by itself. */
const makeReadyCampaign = async (world: World, columns: Partial<CampaignRow> = {}) => {
  const { campaign } = await seedReady(getFirstPlace(world), columns)
  await ignoreStarts(campaign.id)
  return { path: { id: campaign.id }, references: [referToCampaign(world)] }
}

/** A ready campaign that somebody else changed last, and whose approval somebody else requested. */
const makeRequestedCampaign = async (world: World) => {
  const [account, now] = ['usr_someone', Date.now()]
  const sample = await makeReadyCampaign(world, { content_changed_by: account, content_changed_at: now })
  const request = { requested_by: account, requested_at: now, request_note: null }
  await write(replaceApprovalRequest(sample.path.id, request))
  return sample
}

const clickedCampaigns = new WeakMap<World, Promise<string>>()

async function seedClickedCampaign(world: World): Promise<string> {
  const { campaign } = await seedReady(getFirstPlace(world), { status: 'sent', run: 1 })
  await seedRecipients(campaign.id, 3, { run: 1_000_000 })
  await seedLinks(campaign.id, 2)
  return campaign.id
}

/** Loads the campaign of the world whose links people clicked. */
function loadClickedCampaign(world: World): Promise<string> {
  const id = clickedCampaigns.get(world) ?? seedClickedCampaign(world)
  clickedCampaigns.set(world, id)
  return id
}

/** A time at noon, which no change of clocks skips. */
const nextMonth = () => `${new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)}T12:00:00`

export const campaignSamples: Record<string, SampleOf> = {
  listCampaigns: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedCampaigns(getFirstPlace(world), world.a.editions[0].segment, count),
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
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [referToCampaign(world)] }),
  },

  updateCampaign: {
    // The segment and the text are left out, because their form differs in answers.
    make: (world) => ({
      path: { id: world.a.editions[0].draft },
      body: { name: `Early birds ${next()}`, channel: 'email', email_message_id: world.a.editions[0].message },
      references: [referToCampaign(world)],
    }),
  },

  deleteCampaign: { make: (world) => makeReadyCampaign(world) },

  scheduleCampaign: {
    make: async (world) => ({ ...(await makeReadyCampaign(world)), body: { scheduled_at: nextMonth() } }),
  },

  sendCampaignNow: { make: (world) => makeReadyCampaign(world) },

  sendTestCampaign: {
    make: async (world) => ({ ...(await makeReadyCampaign(world)), body: await makeTestBody(world) }),
  },

  requestCampaignApproval: {
    make: async (world) => ({ ...(await makeReadyCampaign(world)), body: { note: 'The new prices' } }),
  },

  approveCampaign: { make: async (world) => ({ ...(await makeRequestedCampaign(world)), body: { note: null } }) },

  rejectCampaign: {
    make: async (world) => ({ ...(await makeRequestedCampaign(world)), body: { note: 'The wrong day' } }),
  },

  cancelCampaign: { make: (world) => makeReadyCampaign(world, { status: 'scheduled' }) },

  pauseCampaign: {
    make: (world) => makeReadyCampaign(world, { status: 'scheduled', scheduled_at: Date.now() + 30 * 86_400_000 }),
  },

  resumeCampaign: {
    make: (world) =>
      makeReadyCampaign(world, {
        status: 'scheduled',
        scheduled_at: Date.now() + 30 * 86_400_000,
        paused_at: Date.now(),
      }),
  },

  planCampaign: {
    make: async (world) => {
      const { campaign } = await seedReady(getFirstPlace(world), {
        channel: 'sms',
        sms_body: { en: 'Doors open at ten.', da: 'Dørene åbner klokken ti.' },
      })
      return { path: { id: campaign.id }, references: [referToCampaign(world)] }
    },
  },

  getCampaignStats: {
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [referToCampaign(world)] }),
  },

  getCampaignTimeline: {
    make: async (world) => ({ path: { id: await loadClickedCampaign(world) }, references: [referToCampaign(world)] }),
  },

  listCampaignLinks: {
    make: async (world) => ({ path: { id: await loadClickedCampaign(world) }, references: [referToCampaign(world)] }),
    fill: async (world, count) => seedLinks(await loadClickedCampaign(world), count),
  },

  createSegmentFromCampaign: {
    make: async (world) => ({
      path: { id: await loadClickedCampaign(world) },
      body: {
        name: `Did not open ${next()}`,
        description: 'Of the early birds',
        state: 'sent',
        engagement: 'not_clicked',
        link: 0,
        communication_type: 'marketing',
        communication_channel: 'email',
      },
      references: [referToCampaign(world)],
    }),
  },

  listCampaignRecipients: {
    make: (world) => ({ path: { id: world.a.editions[0].campaign }, references: [referToCampaign(world)] }),
    fill: async (world, count) => {
      const { campaign } = world.a.editions[0]
      const [sent, failed] = await seedRecipients(campaign, count)
      await inRecipientStore(campaign, (store) => [sent, failed].forEach((one) => one && store.erase(one.n)))
    },
    sortValue: { address: (item) => item['address'] || null },
  },

  retryFailedCampaignRecipients: {
    make: async (world) => {
      const { campaign } = await seedReady(getFirstPlace(world), { status: 'sent', run: 1 })
      await seedRecipients(campaign.id, 3, { run: 1_000_000 })
      return { path: { id: campaign.id }, references: [referToCampaign(world)] }
    },
  },
}
