import service, { CampaignSender, WebhookSender } from '../../../scripts/support/seed-worker.ts'

/** Nothing leaves this machine, because generated endpoints of webhooks may have real addresses. */
globalThis.fetch = () => Promise.reject(new TypeError('Nothing is sent from here.'))

export { CampaignSender, WebhookSender }
export default service
