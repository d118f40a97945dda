import type { z } from '@hono/zod-openapi'
import { mount, mountList } from '../../http/operations/mount.ts'
import { createRouter } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import * as approvalContract from './approval/contract.ts'
import { approveCampaign, rejectCampaign } from './approval/decide.ts'
import { requestCampaignApproval } from './approval/request.ts'
import { type CheckedCampaign, findAuthorizedCampaign } from './checks.ts'
import * as contract from './contract.ts'
import { createCampaign } from './create.ts'
import { deleteCampaign } from './delete.ts'
import * as engagementContract from './engagement/contract.ts'
import { createSegmentFromCampaign } from './engagement/create-segment-from-campaign.ts'
import { listCampaignLinks } from './engagement/list.ts'
import { presentLink, presentSegment, presentTimeline } from './engagement/present.ts'
import { getCampaignTimeline } from './engagement/queries.ts'
import { listCampaignRecipients, listCampaigns } from './list.ts'
import * as pauseContract from './pause/contract.ts'
import { pauseCampaign, resumeCampaign } from './pause/pause.ts'
import * as planContract from './plan/contract.ts'
import { planCampaign } from './plan/plan.ts'
import { presentPlan } from './plan/present.ts'
import { presentCampaign, presentCampaignItem, presentRecipient, presentStats } from './present.ts'
import { findCampaign, loadCounters } from './queries.ts'
import { cancelCampaign, retryFailedCampaignRecipients, scheduleCampaign, sendCampaignNow } from './transitions.ts'
import { updateCampaign } from './update.ts'

type CampaignWithWarnings = z.input<typeof contract.CampaignWithWarnings>

/** A campaign that is scheduled or sent has `warnings` even without any. */
const addAllWarnings = async (campaign: CampaignWithWarnings, { warnings }: CheckedCampaign) => ({
  ...campaign,
  warnings: [...warnings],
})

export const campaignRoutes = createRouter()

mountList(campaignRoutes, contract.listCampaigns, {
  list: listCampaigns,
  present: presentCampaignItem,
})

mount(campaignRoutes, contract.createCampaign, {
  target: (body) => body,
  handle: (ctx, { body }) => createCampaign(ctx, body),
  present: presentCampaign,
  location: ({ id }) => `/v1/campaigns/${id}`,
})

mount(campaignRoutes, contract.getCampaign, {
  load: (ctx, { id }) => findCampaign(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentCampaign,
})

mount(campaignRoutes, contract.updateCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => updateCampaign(ctx, resource, body),
  present: (row, ctx): CampaignWithWarnings => presentCampaign(row, ctx),
  sign: addWarnings,
})

mount(campaignRoutes, contract.deleteCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => deleteCampaign(ctx, resource),
  represent: (resource, ctx) => presentCampaign(resource, ctx),
})

mount(campaignRoutes, contract.scheduleCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => scheduleCampaign(ctx, resource, body),
  present: (row, ctx): CampaignWithWarnings => presentCampaign(row, ctx),
  sign: addAllWarnings,
})

mount(campaignRoutes, contract.sendCampaignNow, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => sendCampaignNow(ctx, resource, body.accept),
  present: (row, ctx): CampaignWithWarnings => presentCampaign(row, ctx),
  sign: addAllWarnings,
})

mount(campaignRoutes, approvalContract.requestCampaignApproval, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => requestCampaignApproval(ctx, resource, body),
  present: presentCampaign,
})

mount(campaignRoutes, approvalContract.approveCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => approveCampaign(ctx, resource, body),
  present: presentCampaign,
})

mount(campaignRoutes, approvalContract.rejectCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => rejectCampaign(ctx, resource, body),
  present: presentCampaign,
})

mount(campaignRoutes, pauseContract.pauseCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => pauseCampaign(ctx, resource),
  present: presentCampaign,
})

mount(campaignRoutes, pauseContract.resumeCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => resumeCampaign(ctx, resource),
  present: presentCampaign,
})

mount(campaignRoutes, contract.cancelCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => cancelCampaign(ctx, resource),
  present: presentCampaign,
})

mount(campaignRoutes, contract.retryFailedCampaignRecipients, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => retryFailedCampaignRecipients(ctx, resource),
  present: presentCampaign,
})

mount(campaignRoutes, planContract.planCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource }) => planCampaign(ctx, resource),
  present: presentPlan,
})

mount(campaignRoutes, contract.getCampaignStats, {
  load: (ctx, { id }) => findCampaign(ctx, id),
  handle: (ctx, { resource }) => loadCounters(ctx, resource),
  present: presentStats,
})

mount(campaignRoutes, engagementContract.getCampaignTimeline, {
  load: (ctx, { id }) => findCampaign(ctx, id),
  handle: (ctx, { resource, query }) => getCampaignTimeline(ctx, resource, query),
  present: presentTimeline,
})

mountList(campaignRoutes, engagementContract.listCampaignLinks, {
  load: (ctx, { id }) => findCampaign(ctx, id),
  list: listCampaignLinks,
  present: presentLink,
})

mount(campaignRoutes, engagementContract.createSegmentFromCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => createSegmentFromCampaign(ctx, resource, body),
  present: presentSegment,
  location: ({ id }) => `/v1/segments/${id}`,
})

mountList(campaignRoutes, contract.listCampaignRecipients, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  list: listCampaignRecipients,
  present: presentRecipient,
})
