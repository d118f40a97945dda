import { operations } from '../../../src/app.ts'
import service, { CampaignSender, WebhookSender } from '../../../src/index.ts'

/** The service with less time for files than it has: a test waits three seconds in place of five minutes. */
const maxReadMs = 3000
for (const { stream } of operations) if (stream) stream.maxReadMs = maxReadMs

export { CampaignSender, WebhookSender }
export default service
