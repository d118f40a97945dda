import service, { CampaignSender, WebhookSender } from '../../../src/index.ts'

/** A server in production posts webhooks to public hosts only. These posts go to the receiver whose port the path names. */
const fetchFromPlatform = globalThis.fetch
globalThis.fetch = (input, init) => {
  const [, port, path] =
    /^https:\/\/hooks\.example\.com\/(\d+)(\/.*)$/.exec(typeof input === 'string' ? input : '') ?? []
  return port ? fetchFromPlatform(`http://127.0.0.1:${port}${path}`, init) : fetchFromPlatform(input, init)
}

export { CampaignSender, WebhookSender }
export default service
